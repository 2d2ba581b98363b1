// What a client asks to be written, and what it is told afterwards.
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

// What must hold of a document for a write to happen. At most one of the two is set.
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
  // Absent: `fields` replaces the document. Present: only these paths are set or, where `fields`
  // lacks them, removed.
  std::optional<std::vector<model::FieldPath>> mask;
  std::vector<model::FieldTransform> transforms;
  Precondition precondition;
};

// About how much memory the writes hold: enough to keep what is under way bounded.
size_t ApproximateBytes(const std::vector<Write>& writes);

// InvalidArgument where two writes are of one document: of writes that each happen on their own,
// nobody could say which is the later one.
Status CheckEachDocumentOnce(const std::vector<Write>& writes);

struct WriteResult {
  // The document after the whole commit; null where there is none.
  model::Record document;
  std::vector<std::string> transform_results;  // Encoded values, one a transform.
};

struct CommitResult {
  model::Timestamp commit_time;
  std::vector<WriteResult> write_results;  // One a write, in order.
};

}  // namespace hearth::request
