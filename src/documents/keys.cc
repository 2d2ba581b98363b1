#include "documents/keys.h"

#include "base/check.h"

namespace hearth::documents {

std::string HistoryKey(std::string_view document_key, model::Timestamp commit_time) {
  std::string key(document_key);
  key.append(model::EncodeUint64(static_cast<uint64_t>(commit_time.micros())));
  return key;
}

std::string_view DocumentKeyOfHistoryKey(std::string_view history_key) {
  CHECK(history_key.size() > sizeof(uint64_t));
  return history_key.substr(0, history_key.size() - sizeof(uint64_t));
}

std::string LogKey(model::DatabaseNumber database, model::Timestamp commit_time) {
  std::string key = model::DatabaseKeyPrefix(database);
  key.append(model::EncodeUint64(static_cast<uint64_t>(commit_time.micros())));
  return key;
}

}  // namespace hearth::documents
