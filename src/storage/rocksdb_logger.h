#pragma once

#include <cstdarg>

#include "rocksdb/env.h"

namespace hearth::storage {

// Writes RocksDB's own warnings and errors to our log, for debugging: errors that matter to users
// are reported as the status of their requests. RocksDB keeps no log file of its own, because on a
// full disk failures of that file end the process in Debian's build.
//
// Threads: safe for concurrent use.
class RocksDbLogger final : public rocksdb::Logger {
 public:
  RocksDbLogger() : rocksdb::Logger(rocksdb::WARN_LEVEL) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override;
};

}  // namespace hearth::storage
