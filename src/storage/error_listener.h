// Private to this folder: hears of RocksDB's background errors.
#pragma once

#include <atomic>

#include "rocksdb/listener.h"

namespace hearth::storage {

// Notes that something went wrong, and sees to it that I/O errors can be healed by DB::Resume, at a
// moment that the store chooses.
//
// Threads: safe for concurrent use. Ownership: shared with the database.
class ErrorListener final : public rocksdb::EventListener {
 public:
  // Whether there was an error since the last call of Clear.
  bool troubled() const { return troubled_; }
  void Clear() { troubled_ = false; }
  // As if there had been one: for errors that RocksDB only returns.
  void Set() { troubled_ = true; }

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                            bool* auto_recovery) override;

 private:
  std::atomic<bool> troubled_ = false;
};

}  // namespace hearth::storage
