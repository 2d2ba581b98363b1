#include "documents/database.h"

#include "base/status_macros.h"

namespace hearth::documents {

std::string EncodeDatabaseRecord(const DatabaseRecord& record) {
  return model::EncodeUint32(static_cast<uint32_t>(record.number)) +
         model::EncodeUint64(static_cast<uint64_t>(record.created.micros()));
}

Result<DatabaseRecord> DecodeDatabaseRecord(std::string_view bytes) {
  ASSIGN_OR_RETURN(const uint32_t number, model::DecodeUint32(bytes.substr(0, sizeof(uint32_t))));
  DatabaseRecord record{model::DatabaseNumber{number}, {}};
  bytes.remove_prefix(sizeof(uint32_t));
  if (bytes.empty()) return record;
  ASSIGN_OR_RETURN(const uint64_t created, model::DecodeUint64(bytes));
  record.created = model::Timestamp::FromMicros(static_cast<int64_t>(created));
  return record;
}

}  // namespace hearth::documents
