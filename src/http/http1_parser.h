#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <string_view>

#include "http/exchange.h"

namespace hearth::http {

// Receives the results of an Http1Parser.
class Http1ParserSink {
 public:
  virtual ~Http1ParserSink() = default;
  virtual void OnParsedBody(std::string_view bytes) = 0;
};

// Whether a head or trailers have a line that continues the one before. Beast joins such lines;
// other implementations do not (RFC 9112, 5.2).
bool HasFoldedLine(std::string_view text);

// Beast's parser of one HTTP/1 request, which fills in a RequestHead. Threads: one loop.
class Http1Parser final : public boost::beast::http::basic_parser<true> {
 public:
  Http1Parser(Http1ParserSink& sink, uint32_t header_bytes_max);

  RequestHead& head() { return head_; }

  // For the complete head, whose bytes are `text`: the status with which to refuse it, if another
  // implementation could see another request in it or behind it; else 0. Beast accepts these.
  int CheckHead(std::string_view text) const;

 private:
  using Error = boost::beast::error_code;
  using Text = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb verb, Text method, Text target, int version,
                       Error& error) override;
  void on_response_impl(int, Text, int, Error&) override {}
  void on_field_impl(boost::beast::http::field field, Text name, Text value, Error& error) override;
  void on_header_impl(Error& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text body, Error& error) override;
  void on_chunk_header_impl(std::uint64_t size, Text extension, Error& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, Text body, Error& error) override;
  void on_finish_impl(Error&) override {}

  Http1ParserSink& sink_;
  RequestHead head_;
  bool head_complete_ = false;  // Later fields are trailers, which are ignored.
};

}  // namespace hearth::http
