// For tests: short ways to make names, fields and records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "model/document.h"
#include "model/document_key.h"
#include "model/field_path.h"
#include "model/fields.h"
#include "model/names.h"
#include "model/testing/printers.h"
#include "model/value.h"

namespace hearth {

inline constexpr model::DatabaseNumber kDatabase{1};

inline model::DatabaseName NameDatabase(std::string_view database = "(default)") {
  return *model::DatabaseName::Parse("projects/p1/databases/" + std::string(database));
}

inline model::ParentName Parent(std::string_view document_path = "") {
  const std::string root = NameDatabase().text() + "/documents";
  return *model::ParentName::Parse(document_path.empty() ? root
                                                         : root + "/" + std::string(document_path));
}

inline model::DocumentPath Path(std::string_view path) { return *model::DocumentPath::Parse(path); }

inline model::FieldPath FieldAt(std::string_view path) { return *model::FieldPath::Parse(path); }

// Names and encoded values.
using FieldMap = std::map<std::string, std::string>;

inline model::Fields MakeFields(const FieldMap& fields) {
  std::string encoded;
  for (const auto& [name, value] : fields) {
    model::AppendField(model::MapView::Tag::kDocument, name, value, &encoded);
  }
  Result<model::Fields> valid = model::Fields::Validate(encoded);
  CHECK(valid.ok());
  return *std::move(valid);
}

// The fields {n: number}.
inline model::Fields NumberFields(int64_t number) {
  return MakeFields({{"n", model::EncodeInteger(number)}});
}

// The n of a record {n: number}.
inline int64_t NumberOf(const std::string& record) {
  const model::Fields fields = model::Fields::FromTrusted(std::string(model::RecordFields(record)));
  const std::optional<model::ValueView> value = fields.Find(FieldAt("n"));
  CHECK(value.has_value());
  return value->integer();
}

inline std::string RecordOf(int64_t create_micros, int64_t update_micros,
                            const model::Fields& fields) {
  return model::EncodeRecord(model::Timestamp::FromMicros(create_micros),
                             model::Timestamp::FromMicros(update_micros), fields);
}

}  // namespace hearth
