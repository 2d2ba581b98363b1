#include "storage/rocksdb_status.h"

namespace hearth::storage {

Status FromRocksDb(const rocksdb::Status& status) {
  if (status.ok()) return Status();
  if (status.IsCorruption()) return Status(Code::kDataLoss, status.ToString());
  if (status.IsNoSpace()) return Status(Code::kResourceExhausted, status.ToString());
  return Status(Code::kUnavailable, status.ToString());
}

}  // namespace hearth::storage
