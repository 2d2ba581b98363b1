// The targets that a client listens to, and the events that it gets.
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

// A client's id for one of its targets.
using TargetId = int32_t;
using TargetIds = std::vector<TargetId>;

struct TargetRequest {
  // Single documents without duplicates, or a query.
  std::variant<std::vector<model::DocumentPath>, query::NormalizedQuery> target;
  std::optional<std::vector<model::FieldPath>> mask = {};  // Fields of the documents to send.
  bool once = false;                                       // Ends with the first snapshot.
  // Where an earlier target ended: the resume token that it got, or a time.
  struct Resume {
    std::variant<std::string, model::Timestamp> from;
    std::optional<size_t> expected_count = {};  // How many documents the client has.
  };
  std::optional<Resume> resume = {};
};

// A change of the state of whole targets.
struct TargetEvent {
  enum class Kind : uint8_t { kNoChange, kAdd, kRemove, kCurrent, kReset };
  Kind kind;
  TargetIds targets;  // Empty: all of them.
  Status cause = Status();
  // The state that the client has reached, and the token to resume from it later.
  std::optional<model::Timestamp> read_time = {};
  std::string resume_token = {};
};

// A document, in its newest state, that is a result of `targets` and left the results of `removed`.
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

// The documents that the client should have by now, for it to compare.
struct ExistenceFilterEvent {
  TargetId target;
  size_t count;
  BloomFilterBits unchanged_names;
};

}  // namespace hearth::request
