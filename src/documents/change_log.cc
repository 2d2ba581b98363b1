#include "documents/change_log.h"

#include "base/status_macros.h"
#include "documents/keys.h"

namespace hearth::documents {

std::string EncodeLogEntry(const std::vector<std::string_view>& document_keys) {
  std::string entry;
  for (std::string_view key : document_keys) {
    key.remove_prefix(sizeof(model::DatabaseNumber));
    entry.append(model::EncodeUint32(static_cast<uint32_t>(key.size()))).append(key);
  }
  return entry;
}

Result<std::vector<std::string>> DecodeLogEntry(std::string_view entry) {
  std::vector<std::string> keys;
  while (!entry.empty()) {
    ASSIGN_OR_RETURN(const uint32_t length, model::DecodeUint32(entry.substr(0, sizeof(uint32_t))));
    entry.remove_prefix(sizeof(uint32_t));
    if (length > entry.size()) return Status(Code::kDataLoss, "a log entry ends too early");
    keys.emplace_back(entry.substr(0, length));
    entry.remove_prefix(length);
  }
  return keys;
}

}  // namespace hearth::documents
