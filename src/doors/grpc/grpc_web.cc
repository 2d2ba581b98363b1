#include "doors/grpc/grpc_web.h"

#include "doors/grpc/grpc_framing.h"
#include "http/cors.h"

namespace hearth::doors::grpc {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kWebType = "application/grpc-web";
constexpr std::string_view kTextType = "application/grpc-web-text";
constexpr std::string_view kBinaryAnswerType = "application/grpc-web+proto";
constexpr std::string_view kTextAnswerType = "application/grpc-web-text+proto";
constexpr char kTrailerFlag = static_cast<char>(0x80);

// `type` is `name`, ignoring everything after '+' or ';'.
bool IsType(std::string_view type, std::string_view name) {
  if (!type.starts_with(name)) return false;
  const std::string_view rest = type.substr(name.size());
  return rest.empty() || rest[0] == '+' || rest[0] == ';';
}

// Appends the decoding of four characters. False if they are invalid.
bool AppendGroup(std::string_view group, std::string* bytes) {
  const size_t size = group.ends_with("==") ? 2 : group.ends_with('=') ? 3 : 4;
  uint32_t bits = 0;
  for (size_t i = 0; i < 4; ++i) {
    const size_t digit = i < size ? kAlphabet.find(group[i]) : 0;
    if (digit == std::string_view::npos) return false;
    bits = bits << 6 | static_cast<uint32_t>(digit);
  }
  for (size_t i = 0; i + 1 < size; ++i) {
    *bytes += static_cast<char>(bits >> (16 - 8 * i) & 0xff);
  }
  return true;
}

}  // namespace

GrpcWebForm FindGrpcWebForm(const http::RequestHead& head) {
  const std::string_view type = head.Find("content-type").value_or("");
  if (IsType(type, kWebType)) return GrpcWebForm::kBinary;
  return IsType(type, kTextType) ? GrpcWebForm::kText : GrpcWebForm::kNone;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      text += i + j <= bytes.size() ? kAlphabet[bits >> (18 - 6 * j) & 0x3f] : '=';
    }
  }
  return text;
}

std::optional<std::string> TakeBase64(std::string* text) {
  std::string bytes;
  const size_t whole = text->size() / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) {
    if (!AppendGroup(std::string_view(*text).substr(i, 4), &bytes)) return std::nullopt;
  }
  text->erase(0, whole);
  return bytes;
}

GrpcWebExchange::GrpcWebExchange(http::Exchange& inner, GrpcWebForm form)
    : inner_(inner), form_(form) {
  AppendCorsHeaders(inner.head(), &cors_headers_);
}

void GrpcWebExchange::SendHead(int status, std::span<const http::Header> headers,
                               http::BodyFollows body) {
  const bool text = form_ == GrpcWebForm::kText;
  std::vector<http::Header> all = {{.name = "content-type",
                                    .value = text ? kTextAnswerType : kBinaryAnswerType,
                                    .text = http::HeaderText::kStatic}};
  for (const http::Header& header : headers) {
    if (header.name != "content-type") all.push_back(header);
  }
  for (const auto& [name, value] : cors_headers_) all.push_back({.name = name, .value = value});
  inner_.SendHead(status, all, body);
}

void GrpcWebExchange::SendBody(std::string bytes) {
  inner_.SendBody(form_ == GrpcWebForm::kText ? EncodeBase64(bytes) : std::move(bytes));
}

void GrpcWebExchange::Finish(std::span<const http::Header> trailers) {
  std::string text;
  for (const http::Header& trailer : trailers) {
    text += trailer.name;
    text += ": ";
    text += trailer.value;
    text += "\r\n";
  }
  std::string frame = rpc::FrameHead(text.size());
  frame[0] = kTrailerFlag;
  SendBody(frame + text);
  inner_.Finish({});
}

void GrpcWebExchange::OnBody(std::string_view bytes) {
  inner_.ConsumeBody(bytes.size());
  if (form_ != GrpcWebForm::kText) return handler_->OnBody(bytes);
  undecoded_ += bytes;
  const std::optional<std::string> decoded = TakeBase64(&undecoded_);
  if (!decoded) return inner_.Abort();
  if (!decoded->empty()) handler_->OnBody(*decoded);
}

void GrpcWebExchange::OnBodyEnd() { handler_->OnBodyEnd(); }

void GrpcWebExchange::OnInputEnd() { handler_->OnInputEnd(); }

void GrpcWebExchange::OnDrain() { handler_->OnDrain(); }

void GrpcWebExchange::OnWritable() { handler_->OnWritable(); }

void GrpcWebExchange::OnClosed() { handler_->OnClosed(); }

}  // namespace hearth::doors::grpc
