#include "storage/error_listener.h"

#include "base/log.h"

namespace hearth::storage {
namespace {

// A hard error stops writes, and so ends the wait for a flush that failed. But a flush job that has
// been scheduled and finds one when it begins is forgotten by RocksDB 7.8, and whoever waits for it
// waits for ever. So only flush jobs, of which there is one at a time, may raise one.
rocksdb::Status::Severity SeverityOf(rocksdb::BackgroundErrorReason reason) {
  switch (reason) {
    case rocksdb::BackgroundErrorReason::kFlush:
    case rocksdb::BackgroundErrorReason::kFlushNoWAL:
    case rocksdb::BackgroundErrorReason::kManifestWriteNoWAL:
      return rocksdb::Status::Severity::kHardError;
    case rocksdb::BackgroundErrorReason::kCompaction:
    case rocksdb::BackgroundErrorReason::kWriteCallback:
    case rocksdb::BackgroundErrorReason::kMemTable:
    case rocksdb::BackgroundErrorReason::kManifestWrite:
      return rocksdb::Status::Severity::kSoftError;
  }
  return rocksdb::Status::Severity::kHardError;
}

}  // namespace

void ErrorListener::OnBackgroundError(rocksdb::BackgroundErrorReason reason,
                                      rocksdb::Status* error) {
  troubled_ = true;
  Log(LogLevel::kError, "storage error",
      {{"error", error->ToString()}, {"reason", static_cast<int>(reason)}});
  // RocksDB refuses to resume after a fatal error, and takes any I/O error that it does not know to
  // pass for one, because the log may hold what the memory does not. Ours never does: it is cut
  // back after every failed write. Damaged data stays fatal.
  if (error->IsIOError()) *error = rocksdb::Status(*error, SeverityOf(reason));
}

void ErrorListener::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/,
                                         rocksdb::Status /*error*/, bool* auto_recovery) {
  *auto_recovery = false;
}

}  // namespace hearth::storage
