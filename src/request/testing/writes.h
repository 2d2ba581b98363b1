// For tests: short ways to make writes.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/fields.h"
#include "model/testing/documents.h"
#include "model/transform.h"
#include "request/write.h"

namespace hearth {

inline request::Write Set(std::string_view path, model::Fields fields) {
  return {Path(path), request::WriteKind::kUpdate, std::move(fields), std::nullopt, {}, {}};
}

inline request::Write SetNumber(std::string_view path, int64_t number) {
  return Set(path, NumberFields(number));
}

inline request::Write Merge(std::string_view path, model::Fields fields,
                            std::initializer_list<std::string_view> mask) {
  request::Write write = Set(path, std::move(fields));
  write.mask.emplace();
  for (const std::string_view field : mask) write.mask->push_back(FieldAt(field));
  return write;
}

inline request::Write Delete(std::string_view path) {
  return {Path(path), request::WriteKind::kDelete, {}, std::nullopt, {}, {}};
}

inline request::Write Transform(std::string_view path,
                                std::vector<model::FieldTransform> transforms) {
  request::Write write = Merge(path, {}, {});
  write.transforms = std::move(transforms);
  return write;
}

inline model::FieldTransform Increment(std::string_view field, int64_t by) {
  return {FieldAt(field), model::TransformKind::kIncrement, model::EncodeInteger(by)};
}

inline request::Write IfExists(request::Write write) {
  write.precondition.exists = true;
  return write;
}

inline request::Write IfMissing(request::Write write) {
  write.precondition.exists = false;
  return write;
}

inline request::Write IfUpdatedAt(request::Write write, model::Timestamp time) {
  write.precondition.update_time = time;
  return write;
}

}  // namespace hearth
