#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/field_path.h"
#include "model/timestamp.h"
#include "model/value.h"

namespace hearth::model {

enum class TransformKind : uint8_t {
  kServerTime,  // The commit's time, rounded down to milliseconds.
  kIncrement,
  kMaximum,
  kMinimum,
  kArrayUnion,
  kArrayRemove,
};

// A change of one field that depends on its value at the time of the commit.
struct FieldTransform {
  FieldPath path;
  TransformKind kind;
  // Canonical, as ValidateValue returns it: a number for increment, maximum and minimum; an array
  // for the array transforms; empty for server time.
  std::string operand;
};

// InvalidArgument if the operand does not fit the kind.
Status ValidateTransform(const FieldTransform& transform);

// The field's new encoded value, given the old one (nullopt: no such field). Requires a transform
// that ValidateTransform accepts.
std::string ApplyTransform(const FieldTransform& transform,
                           const std::optional<std::string>& current, Timestamp commit_time);

// The value that WriteResult.transform_results reports: null for the array transforms, else the new
// value.
std::string TransformResult(const FieldTransform& transform, const std::string& new_value);

}  // namespace hearth::model
