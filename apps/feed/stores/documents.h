// Helpers of the stores for reading and writing documents.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/feed/ids/ids.h"
#include "base/clock.h"
#include "base/status.h"
#include "client/snapshot.h"
#include "client/transaction.h"
#include "client/value.h"

namespace hearth::feed {

// Transactions that assign ids, or many follows at once, contend for one document and need many
// attempts.
inline constexpr client::TransactionOptions kContended = {.attempts_max = 20};

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
// 9999-12-31: no document can hold a later moment.
inline constexpr int64_t kSecondsMax = 253'402'300'799;

inline int64_t NowSeconds(const Clock& clock) { return clock.WallMicros() / kMicrosPerSecond; }

// Requires 0 to kSecondsMax.
inline client::Timestamp ToTimestamp(int64_t seconds) {
  return client::Timestamp::FromMicros(seconds * kMicrosPerSecond);
}

// Zero, empty or false if the field is missing or of another type.
int64_t IntegerOf(const client::Map& fields, std::string_view name);
std::string TextOf(const client::Map& fields, std::string_view name);
bool BooleanOf(const client::Map& fields, std::string_view name);
int64_t SecondsOf(const client::Map& fields, std::string_view name);

// No id if the field is missing or of another type.
template <Id T>
T ReadId(const client::Map& fields, std::string_view name) {
  return T{IntegerOf(fields, name)};
}

// The last id that a counter assigned; no id if the document does not exist yet.
template <Id T>
T LastId(const client::DocumentSnapshot& counter) {
  return ReadId<T>(counter.Data(), "last_id");
}

// A commit without an answer may have happened, and is retried. This field holds a unique name that
// identifies what earlier attempts created, so that nothing is created twice.
inline constexpr char kMakerField[] = "maker";
// Whether the document exists and was created by `maker`.
bool IsMadeBy(const std::string& maker, const client::DocumentSnapshot& document);

// The error for a document that no version of this application has written.
inline Status NotOurs(const client::DocumentSnapshot& document, const char* kind) {
  return Status(Code::kDataLoss, document.path().path() + " is not a valid " + kind);
}

}  // namespace hearth::feed
