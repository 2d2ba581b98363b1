// The writes that a client requests, and their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/field_path.h"
#include "model/fields.h"
#include "model/names.h"
#include "model/record.h"
#include "model/timestamp.h"
#include "model/transform.h"

namespace hearth::request {

// A condition on a document that must hold for a write to be applied. At most one of the two is
// set.
struct Precondition {
  std::optional<bool> exists;
  std::optional<model::Timestamp> update_time;
};

enum class WriteKind : uint8_t {
  kUpdate,
  kDelete,
  kVerify,  // Changes nothing; its precondition must hold.
};

// One write of a commit. Transforms apply after the fields.
struct Write {
  model::DocumentPath path;
  WriteKind kind = WriteKind::kUpdate;
  model::Fields fields;
  // Absent: `fields` replaces the document. Present: only these paths are set or, if `fields` lacks
  // them, removed.
  std::optional<std::vector<model::FieldPath>> mask;
  std::vector<model::FieldTransform> transforms;
  Precondition precondition;
};

// Approximate memory that the writes hold: precise enough to bound the work in progress.
size_t ApproximateBytes(const std::vector<Write>& writes);

// InvalidArgument if two writes affect the same document: writes that are applied independently
// have no order.
Status CheckEachDocumentOnce(const std::vector<Write>& writes);

struct WriteResult {
  // The document after the whole commit; null if there is none.
  model::Record document;
  std::vector<std::string> transform_results;  // Encoded values, one per transform.
};

struct CommitResult {
  model::Timestamp commit_time;
  std::vector<WriteResult> write_results;  // One per write, in order.
};

}  // namespace hearth::request
