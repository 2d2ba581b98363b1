#include "index/index_record.h"

#include <utility>

#include "model/limits.h"

namespace hearth::index {
namespace {

Status Undecodable() { return Status(Code::kDataLoss, "a stored index definition is damaged"); }

void AppendWithSize(std::string_view text, std::string* out) {
  out->append(model::EncodeUint32(static_cast<uint32_t>(text.size()))).append(text);
}

// Takes items off the front. Sets `ok` to false, permanently, if there is no such item.
struct RecordReader {
  std::string_view rest;
  bool ok = true;

  std::string_view Take(size_t size) {
    ok = ok && rest.size() >= size;
    if (!ok) return {};
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }
  uint8_t Byte(uint8_t max) {
    const std::string_view byte = Take(1);
    const uint8_t value = ok ? static_cast<uint8_t>(byte[0]) : 0;
    ok = ok && value <= max;
    return ok ? value : 0;
  }
  uint32_t Uint32() {
    const Result<uint32_t> number = model::DecodeUint32(Take(sizeof(uint32_t)));
    return number.ok() ? *number : 0;
  }
  uint64_t Uint64() {
    const Result<uint64_t> number = model::DecodeUint64(Take(sizeof(uint64_t)));
    return number.ok() ? *number : 0;
  }
  std::string Text() { return std::string(Take(Uint32())); }
};

}  // namespace

std::string EncodeIndexRecord(const IndexRecord& record) {
  const Definition& definition = record.definition;
  std::string bytes = model::EncodeUint32(static_cast<uint32_t>(record.database));
  bytes.push_back(static_cast<char>(record.state));
  bytes.push_back(static_cast<char>(record.origin));
  bytes.push_back(static_cast<char>(definition.scope));
  bytes.push_back(definition.name_descending ? '\x01' : '\x00');
  bytes += model::EncodeUint64(static_cast<uint64_t>(record.used_at_micros));
  AppendWithSize(definition.collection_id, &bytes);
  AppendWithSize(record.progress, &bytes);
  bytes += model::EncodeUint32(definition.vector ? definition.vector->dimension : 0);
  if (definition.vector) AppendWithSize(definition.vector->path.ToString(), &bytes);
  for (const IndexField& field : definition.fields) {
    bytes.push_back(static_cast<char>(field.mode));
    AppendWithSize(field.path.ToString(), &bytes);
  }
  return bytes;
}

Result<IndexRecord> DecodeIndexRecord(std::string_view bytes) {
  RecordReader reader{bytes};
  IndexRecord record;
  record.database = model::DatabaseNumber{reader.Uint32()};
  record.state = static_cast<State>(reader.Byte(static_cast<uint8_t>(State::kReady)));
  record.origin = static_cast<Origin>(reader.Byte(static_cast<uint8_t>(Origin::kTtl)));
  record.definition.scope =
      static_cast<QueryScope>(reader.Byte(static_cast<uint8_t>(QueryScope::kCollectionGroup)));
  record.definition.name_descending = reader.Byte(1) == 1;
  record.used_at_micros = static_cast<int64_t>(reader.Uint64());
  record.definition.collection_id = reader.Text();
  record.progress = reader.Text();
  if (const uint32_t dimension = reader.Uint32(); dimension != 0) {
    Result<model::FieldPath> path = model::FieldPath::Parse(reader.Text());
    if (!path.ok() || dimension > model::kVectorDimensionsMax) return Undecodable();
    record.definition.vector = VectorPart{*std::move(path), dimension};
  }
  while (reader.ok && !reader.rest.empty()) {
    const auto mode =
        static_cast<FieldMode>(reader.Byte(static_cast<uint8_t>(FieldMode::kMapEntries)));
    Result<model::FieldPath> path = model::FieldPath::Parse(reader.Text());
    if (!path.ok()) return Undecodable();
    record.definition.fields.push_back({*std::move(path), mode});
  }
  if (!reader.ok) return Undecodable();
  return record;
}

}  // namespace hearth::index
