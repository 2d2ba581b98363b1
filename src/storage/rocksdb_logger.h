#pragma once

#include <cstdarg>

#include "rocksdb/env.h"

namespace hearth::storage {

// RocksDB's own warnings and errors, as lines of our log, for those who debug: what matters to
// users reaches them as the status of what they did. RocksDB keeps no log file of its own, because
// on a full disk that file's failures end the process in Debian's build.
//
// Threads: safe for concurrent use.
class RocksDbLogger final : public rocksdb::Logger {
 public:
  RocksDbLogger() : rocksdb::Logger(rocksdb::WARN_LEVEL) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override;
};

}  // namespace hearth::storage
