#include "storage/error_listener.h"

#include "base/log.h"

namespace hearth::storage {

void ErrorListener::OnBackgroundError(rocksdb::BackgroundErrorReason reason,
                                      rocksdb::Status* error) {
  Log(LogLevel::kError, "storage error",
      {{"error", error->ToString()}, {"reason", static_cast<int>(reason)}});
  if (!error->IsIOError()) {
    troubled_ = true;  // Damaged data: RocksDB refuses all further writes.
    return;
  }
  // By default RocksDB treats any I/O error that it does not know to be temporary as fatal, with no
  // way to resume, because the log may hold writes that are not in memory. Ours never does: it is
  // cut back after every failed write. A hard error stops writes and ends the wait for a flush; a
  // soft error has no effect. Only flush jobs, which run one at a time, may raise a hard error: a
  // flush job that finds a hard error when it begins is dropped, but RocksDB waits for it forever.
  rocksdb::Status::Severity severity = rocksdb::Status::Severity::kSoftError;
  switch (reason) {
    case rocksdb::BackgroundErrorReason::kCompaction:
      break;  // Compactions are retried automatically.
    case rocksdb::BackgroundErrorReason::kWriteCallback:
      *error =
          rocksdb::Status::OK();  // The commit fails and the log is cut: nothing else is wrong.
      return;
    case rocksdb::BackgroundErrorReason::kMemTable:
    case rocksdb::BackgroundErrorReason::kManifestWrite:
      troubled_ = true;
      break;
    case rocksdb::BackgroundErrorReason::kFlush:
    case rocksdb::BackgroundErrorReason::kFlushNoWAL:
    case rocksdb::BackgroundErrorReason::kManifestWriteNoWAL:
      troubled_ = true;
      severity = rocksdb::Status::Severity::kHardError;
      break;
  }
  *error = rocksdb::Status(*error, severity);
}

void ErrorListener::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/,
                                         rocksdb::Status /*error*/, bool* auto_recovery) {
  *auto_recovery = false;
}

}  // namespace hearth::storage
