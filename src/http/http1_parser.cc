#include "http/http1_parser.h"

#include <boost/beast/http/error.hpp>

namespace hearth::http {
namespace {

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Http1Parser::Http1Parser(Http1ParserSink& sink, uint32_t header_bytes_max) : sink_(sink) {
  header_limit(header_bytes_max);
  body_limit(boost::none);  // The handler decides how much it accepts; flow control does the rest.
}

void Http1Parser::on_request_impl(boost::beast::http::verb, Text method, Text target, int version,
                                  Error&) {
  head_.set_method(View(method));
  head_.set_scheme("http");
  head_.set_version(version == 10 ? HttpVersion::kHttp10 : HttpVersion::kHttp11);
  // RFC 9112, 3.2.2: a server also accepts "GET http://host/path", which proxies send.
  std::string_view rest = View(target);
  if (const size_t scheme_end = rest.find("://");
      !rest.starts_with('/') && scheme_end != std::string_view::npos) {
    rest.remove_prefix(scheme_end + 3);
    const size_t path = rest.find_first_of("/?");
    head_.set_authority(rest.substr(0, path));
    rest = path == std::string_view::npos ? "/" : rest.substr(path);
  }
  head_.set_target(rest);
}

void Http1Parser::on_field_impl(boost::beast::http::field field, Text name, Text value, Error&) {
  if (head_complete_) return;
  head_.AddHeader(View(name), View(value));
  if (field == boost::beast::http::field::host && head_.authority().empty()) {
    head_.set_authority(View(value));
  }
}

void Http1Parser::on_header_impl(Error& error) {
  head_complete_ = true;
  if (head_.version() == HttpVersion::kHttp11 && !head_.Find("host")) {
    error = boost::beast::http::error::bad_field;
  }
}

std::size_t Http1Parser::on_body_impl(Text body, Error&) {
  sink_.OnParsedBody(View(body));
  return body.size();
}

std::size_t Http1Parser::on_chunk_body_impl(std::uint64_t, Text body, Error&) {
  sink_.OnParsedBody(View(body));
  return body.size();
}

}  // namespace hearth::http
