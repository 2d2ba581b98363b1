#include "storage/error_listener.h"

#include "base/log.h"

namespace hearth::storage {

void ErrorListener::OnBackgroundError(rocksdb::BackgroundErrorReason reason,
                                      rocksdb::Status* error) {
  troubled_ = true;
  Log(LogLevel::kError, "storage error",
      {{"error", error->ToString()}, {"reason", static_cast<int>(reason)}});
  // RocksDB refuses to resume after a fatal error, and takes any I/O error that it does not know to
  // pass for one, because the log may hold what the memory does not. Ours never does: it is cut
  // back after every failed write. Damaged data stays fatal.
  if (error->IsIOError() && error->severity() > rocksdb::Status::Severity::kHardError) {
    *error = rocksdb::Status(*error, rocksdb::Status::Severity::kHardError);
  }
}

void ErrorListener::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/,
                                         rocksdb::Status /*error*/, bool* auto_recovery) {
  *auto_recovery = false;
}

}  // namespace hearth::storage
