// For tests: starting transactions, and the errors they fail with.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "model/timestamp.h"
#include "transactions/transactions.h"

namespace hearth {

// The words that SDKs match before they retry.
inline const Status kTransactionOver =
    InvalidArgument("The referenced transaction has expired or is no longer valid.");
inline const Status kContention(Code::kAborted,
                                "Too much contention on these documents. Please try again.");
inline const Status kLockTimeout(
    Code::kAborted,
    "Too much contention on these documents. Please try again. (Transaction lock timeout.)");

inline request::TransactionOptions RetryOf(std::string id) {
  request::TransactionOptions options;
  options.retry_transaction = std::move(id);
  return options;
}

inline request::TransactionOptions ReadOnly(
    std::optional<model::Timestamp> read_time = std::nullopt) {
  request::TransactionOptions options;
  options.mode = request::TransactionOptions::Mode::kReadOnly;
  options.read_time = read_time;
  return options;
}

}  // namespace hearth
