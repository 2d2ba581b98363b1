#include "storage/rocksdb_logger.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "base/log.h"

namespace hearth::storage {

void RocksDbLogger::Logv(const char* format, va_list arguments) {
  std::array<char, 1024> text{};  // Longer messages are truncated.
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string_view message = text.data();
  while (message.ends_with('\n')) message.remove_suffix(1);
  Log(LogLevel::kDebug, "rocksdb", {{"message", message}});
}

}  // namespace hearth::storage
