#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/timestamp.h"

namespace hearth::request {

struct TransactionOptions {
  enum class Mode : uint8_t { kReadWrite, kReadOnly };

  Mode mode = Mode::kReadWrite;
  std::optional<model::Timestamp> read_time;  // Read-only: the moment to read; absent: now.
  std::string retry_transaction;              // Read-write: the id of the attempt that failed.
};

}  // namespace hearth::request
