// Private to this folder: handles RocksDB's background errors.
#pragma once

#include <atomic>

#include "rocksdb/listener.h"

namespace hearth::storage {

// Records that an error occurred, and makes sure that DB::Resume can recover from I/O errors, at a
// time that the store chooses.
//
// Threads: safe for concurrent use. Ownership: shared with the database.
class ErrorListener final : public rocksdb::EventListener {
 public:
  // True if there was an error since the last call of Clear.
  bool troubled() const { return troubled_; }
  void Clear() { troubled_ = false; }
  // Acts as if there had been an error: for errors that RocksDB only returns.
  void Set() { troubled_ = true; }

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                            bool* auto_recovery) override;

 private:
  std::atomic<bool> troubled_ = false;
};

}  // namespace hearth::storage
