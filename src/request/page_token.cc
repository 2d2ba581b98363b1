#include "request/page_token.h"

#include <optional>

#include "base/base64.h"
#include "model/document_key.h"

namespace hearth::request {
namespace {

// FNV-1a. Distinguishes requests; it is not a protection.
uint32_t Fingerprint(std::string_view text) {
  uint32_t hash = 2'166'136'261u;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 16'777'619u;
  return hash;
}

}  // namespace

std::string EncodePageToken(std::string_view request, const std::vector<std::string>& parts) {
  std::string bytes = model::EncodeUint32(Fingerprint(request));
  for (const std::string& part : parts) {
    bytes.append(model::EncodeUint32(static_cast<uint32_t>(part.size()))).append(part);
  }
  return EncodeBase64Url(bytes);
}

Result<std::vector<std::string>> DecodePageToken(std::string_view token, std::string_view request) {
  const Status invalid = InvalidArgument("invalid page token");
  const std::optional<std::string> decoded = DecodeBase64Url(token);
  if (!decoded) return invalid;
  std::string_view rest = *decoded;
  const Result<uint32_t> fingerprint = model::DecodeUint32(rest.substr(0, sizeof(uint32_t)));
  if (!fingerprint.ok() || *fingerprint != Fingerprint(request)) return invalid;
  rest.remove_prefix(sizeof(uint32_t));
  std::vector<std::string> parts;
  while (!rest.empty()) {
    const Result<uint32_t> length = model::DecodeUint32(rest.substr(0, sizeof(uint32_t)));
    if (!length.ok() || *length > rest.size() - sizeof(uint32_t)) return invalid;
    parts.emplace_back(rest.substr(sizeof(uint32_t), *length));
    rest.remove_prefix(sizeof(uint32_t) + *length);
  }
  return parts;
}

}  // namespace hearth::request
