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
  // Left to itself, RocksDB takes any I/O error that it does not know to pass for a fatal one, from
  // which nothing resumes, because the log may hold what the memory does not. Ours never does: it
  // is cut back after every failed write. A hard error stops writes, and ends the wait for a flush;
  // a soft one leaves all as it is. Only flush jobs, of which there is one at a time, may raise a
  // hard one: a flush job that finds one when it begins is forgotten, and waited for for ever.
  rocksdb::Status::Severity severity = rocksdb::Status::Severity::kSoftError;
  switch (reason) {
    case rocksdb::BackgroundErrorReason::kCompaction:
      break;  // Compactions try again by themselves.
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
