// For tests: short notations for documents, changes and live queries.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "model/document.h"
#include "model/fields.h"
#include "model/names.h"
#include "model/value.h"
#include "query/testing/query_builder.h"
#include "watch/change.h"
#include "watch/live_query.h"

namespace hearth::watch {

inline constexpr model::DatabaseNumber kTestDatabase{1};

inline const model::DatabaseName& TestDatabaseName() {
  static const model::DatabaseName kName =
      *model::DatabaseName::Parse("projects/p1/databases/(default)");
  return kName;
}

inline model::DocumentPath Path(const std::string& path) {
  return *model::DocumentPath::Parse(path);
}

// A document's state: names and encoded values.
inline model::Record RecordOf(const std::map<std::string, std::string>& fields) {
  std::string encoded;
  for (const auto& [name, value] : fields) {
    model::AppendField(model::MapView::Tag::kDocument, name, value, &encoded);
  }
  Result<model::Fields> valid = model::Fields::Validate(encoded);
  CHECK(valid.ok());
  const model::Timestamp time = model::Timestamp::FromMicros(1);
  return std::make_shared<const std::string>(model::EncodeRecord(time, time, *valid));
}
inline model::Record Number(int64_t number) {
  return RecordOf({{"n", model::EncodeInteger(number)}});
}

inline std::unique_ptr<const LiveQuery> Live(const query::QueryBuilder& builder) {
  return std::make_unique<const LiveQuery>(TestDatabaseName(), builder.Build());
}

inline Change ChangeOf(const std::string& path, model::Record before, model::Record after) {
  return {kTestDatabase, Path(path), std::move(before), std::move(after),
          model::Timestamp::FromMicros(2)};
}

}  // namespace hearth::watch
