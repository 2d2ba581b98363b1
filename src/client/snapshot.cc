#include "client/snapshot.h"

#include <utility>

#include "client/references.h"
#include "model/fields.h"

namespace hearth::client {

DocumentSnapshot::DocumentSnapshot(std::shared_ptr<Transport> transport, model::DocumentPath path,
                                   model::Record record, Timestamp read_time,
                                   std::optional<double> distance)
    : transport_(std::move(transport)),
      path_(std::move(path)),
      record_(std::move(record)),
      read_time_(read_time),
      distance_(distance) {}

DocumentReference DocumentSnapshot::reference() const {
  return DocumentReference(transport_, path_);
}

Map DocumentSnapshot::Data() const { return Decode(view()); }

std::optional<Value> DocumentSnapshot::Get(std::string_view field_path) const {
  if (!record_) return std::nullopt;
  const Result<model::FieldPath> path = model::FieldPath::Parse(field_path);
  if (!path.ok()) return std::nullopt;
  const auto value = model::FindField(model::RecordFields(*record_), *path);
  return value ? std::optional<Value>(Decode(*value)) : std::nullopt;
}

model::MapView DocumentSnapshot::view() const {
  return {record_ ? model::RecordFields(*record_) : std::string_view(),
          model::MapView::Tag::kDocument};
}

}  // namespace hearth::client
