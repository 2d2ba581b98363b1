// What a client asks to listen to, and what it is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "model/field_path.h"
#include "model/names.h"
#include "model/record.h"
#include "model/timestamp.h"
#include "query/normalize.h"

namespace hearth::request {

// How a client calls one of its targets.
using TargetId = int32_t;
using TargetIds = std::vector<TargetId>;

struct TargetRequest {
  // Single documents without repeats, or a query.
  std::variant<std::vector<model::DocumentPath>, query::NormalizedQuery> target;
  std::optional<std::vector<model::FieldPath>> mask = {};  // Of the documents it gets.
  bool once = false;                                       // It ends with the first snapshot.
  // Where an earlier target ended: by the token that it got, or by a time.
  struct Resume {
    std::variant<std::string, model::Timestamp> from;
    std::optional<size_t> expected_count = {};  // Of the documents that the client has.
  };
  std::optional<Resume> resume = {};
};

// What happens to targets as such.
struct TargetEvent {
  enum class Kind : uint8_t { kNoChange, kAdd, kRemove, kCurrent, kReset };
  Kind kind;
  TargetIds targets;  // None: all of them.
  Status cause = Status();
  // The state that the client has by now, and how to go on from there later.
  std::optional<model::Timestamp> read_time = {};
  std::string resume_token = {};
};

// A document that is a result of `targets`, in its newest state, and left the results of `removed`.
struct DocumentEvent {
  const model::DocumentPath& path;
  const model::Record& record;
  const std::optional<std::vector<model::FieldPath>>& mask;
  TargetIds targets;
  TargetIds removed = {};
};

// A document that left the results of `removed`.
struct DocumentGoneEvent {
  enum class Reason : uint8_t { kDeleted, kNoMatch };
  Reason reason;
  std::string path;
  TargetIds removed;
  model::Timestamp read_time;
};

// google.firestore.v1.BloomFilter. Bit `i` is bit `i % 8`, counted from the least significant, of
// byte `i / 8`.
struct BloomFilterBits {
  std::string bitmap;
  int padding = 0;  // Unused bits of the last byte.
  int hash_count = 0;
};

// What a client should have by now, for it to compare.
struct ExistenceFilterEvent {
  TargetId target;
  size_t count;
  BloomFilterBits unchanged_names;
};

}  // namespace hearth::request
