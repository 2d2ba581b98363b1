#include "http/http1_parser.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/error.hpp>
#include <cstddef>

#include "base/text.h"

namespace hearth::http {
namespace {

constexpr int kBadRequest = 400;
constexpr int kNotImplemented = 501;
// Extensions are ignored, and nobody sends any.
constexpr size_t kChunkExtensionBytesMax = 256;

// Printable ASCII without what a browser would encode or not send.
bool IsTarget(std::string_view target) {
  return std::ranges::all_of(target, [](char c) { return c > ' ' && c < 0x7f && c != '#'; });
}

bool IsHttpScheme(std::string_view scheme) {
  return EqualsIgnoringCase(scheme, "http") || EqualsIgnoringCase(scheme, "https");
}

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Fields that decide how a message is read, and so must not come after it.
bool IsForbiddenTrailer(std::string_view name) {
  return std::ranges::any_of(
      std::array<std::string_view, 4>{"host", "content-length", "transfer-encoding", "connection"},
      [name](std::string_view forbidden) { return EqualsIgnoringCase(name, forbidden); });
}

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

bool HasFoldedLine(std::string_view text) {
  return text.find("\r\n ") != std::string_view::npos ||
         text.find("\r\n\t") != std::string_view::npos;
}

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
  const std::string_view text = View(target);
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos || !IsHttpScheme(text.substr(0, scheme_end))) {
    return head_.set_target(text);
  }
  const std::string_view rest = text.substr(scheme_end + 3);
  const size_t path = std::min(rest.find_first_of("/?"), rest.size());
  head_.set_authority(rest.substr(0, path));
  // RFC 9110, 4.2.3: an empty path means "/", also before a query.
  std::string path_and_query(rest.substr(path));
  if (!path_and_query.starts_with('/')) path_and_query.insert(0, 1, '/');
  head_.set_target(path_and_query);
}

void Http1Parser::on_field_impl(boost::beast::http::field field, Text name, Text value,
                                Error& error) {
  if (head_complete_) {
    if (IsForbiddenTrailer(View(name))) error = boost::beast::http::error::bad_field;
    return;
  }
  head_.AddHeader(View(name), View(value));
  if (field == boost::beast::http::field::host && head_.authority().empty()) {
    head_.set_authority(View(value));
  }
}

int Http1Parser::CheckHead(std::string_view text) const {
  size_t hosts = 0;
  size_t codings = 0;
  size_t lengths = 0;
  bool is_chunked = false;
  bool is_length = true;
  for (size_t i = 0; i < head_.header_count(); ++i) {
    const Header field = head_.header(i);
    if (field.name == "host") ++hosts;
    if (field.name == "transfer-encoding") {
      ++codings;
      is_chunked = EqualsIgnoringCase(Trim(field.value), "chunked");
    }
    if (field.name == "content-length") {
      ++lengths;
      is_length = is_length && IsNumber(field.value);
    }
  }
  if (HasFoldedLine(text) || hosts > 1 || lengths > 1 || codings > 1 || !is_length) {
    return kBadRequest;
  }
  if (!head_.has_valid_target() || !IsTarget(head_.target())) return kBadRequest;
  if (codings == 0) return 0;
  // RFC 9112, 6.1: a proxy that knows only one of the two would find another end of the body.
  if (lengths > 0 || head_.version() == HttpVersion::kHttp10) return kBadRequest;
  return is_chunked ? 0 : kNotImplemented;
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

void Http1Parser::on_chunk_header_impl(std::uint64_t, Text extension, Error& error) {
  if (extension.size() > kChunkExtensionBytesMax) {
    error = boost::beast::http::error::bad_chunk_extension;
  }
}

std::size_t Http1Parser::on_chunk_body_impl(std::uint64_t, Text body, Error&) {
  sink_.OnParsedBody(View(body));
  return body.size();
}

}  // namespace hearth::http
