#include "index/entries.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "index/value_key.h"
#include "model/document_key.h"
#include "model/fields.h"
#include "model/path_encoding.h"
#include "model/wire_format.h"
#include "vector/packed_vector.h"

namespace hearth::index {
namespace {

using model::AppendSegments;
using model::ArrayView;
using model::DocumentPath;
using model::FieldView;
using model::MapView;
using model::ValueType;
using model::ValueView;

constexpr uint32_t kFlaggedComponentsMax = 32;
constexpr std::string_view kPathEnd("\x00\x00", 2);

std::string EncodeFlags(const EntryFlags& flags) {
  std::string value;
  if (flags.cut_end == 0 && flags.doubles == 0) return value;
  model::AppendVarint(flags.doubles, &value);
  if (flags.cut_end != 0) model::AppendVarint(flags.cut_end, &value);
  return value;
}

std::string EncodeVectorEntry(const EntryFlags& flags, const std::string& packed) {
  std::string value;
  model::AppendVarint(flags.doubles, &value);
  model::AppendVarint(flags.cut_end, &value);
  return value + packed;
}

// An entry to which components are being added.
struct Draft {
  std::string key;
  EntryFlags flags;

  void Append(const ValueView& value, FieldMode mode, size_t component) {
    const bool is_cut = AppendComponent(value, mode, &key);
    if (is_cut && flags.cut_end == 0) flags.cut_end = key.size();
    if (value.type() == ValueType::kDouble && component < kFlaggedComponentsMax) {
      flags.doubles |= uint32_t{1} << component;
    }
  }
};

// The value of each of the index's fields; nullopt if the document has no entry for lack of one, or
// of its elements.
std::optional<std::vector<ValueView>> ValuesOf(const Definition& definition,
                                               std::string_view fields) {
  std::vector<ValueView> values;
  values.reserve(definition.fields.size());
  for (const IndexField& field : definition.fields) {
    const std::optional<ValueView> value = model::FindField(fields, field.path);
    if (!value) return std::nullopt;
    if (field.mode == FieldMode::kContains &&
        (value->type() != ValueType::kArray || !value->array().Next())) {
      return std::nullopt;
    }
    if (field.mode == FieldMode::kMapEntries &&
        (value->type() != ValueType::kMap || !value->map().Next())) {
      return std::nullopt;
    }
    values.push_back(*value);
  }
  return values;
}

// Refuses entries that are too large, before they are built.
class SizeCheck {
 public:
  // Whether one more entry with `bytes` so far is within the limits.
  bool Add(size_t bytes) {
    bytes_ += bytes;
    return bytes <= kEntryBytesMax && bytes_ <= kEntryBytesPerDocumentMax;
  }

 private:
  size_t bytes_ = 0;
};

// Multiplies the entries by the elements of an array or a map. False if they would be too large.
bool Multiply(const ValueView& value, FieldMode mode, size_t component,
              std::vector<Draft>* drafts) {
  std::vector<Draft> multiplied;
  SizeCheck size;
  if (mode == FieldMode::kMapEntries) {
    for (MapView rest = value.map(); const std::optional<FieldView> field = rest.Next();) {
      for (const Draft& draft : *drafts) {
        Draft& own = multiplied.emplace_back(draft);
        AppendFieldNameKey(field->name, &own.key);
        own.Append(field->value, FieldMode::kAscending, component);
        if (!size.Add(own.key.size())) return false;
      }
    }
  } else {
    for (ArrayView rest = value.array(); const std::optional<ValueView> item = rest.Next();) {
      for (const Draft& draft : *drafts) {
        Draft& own = multiplied.emplace_back(draft);
        own.Append(*item, mode, component);
        if (!size.Add(own.key.size())) return false;
      }
    }
  }
  *drafts = std::move(multiplied);
  return true;
}

Status TooLarge(const Definition& definition, const DocumentPath& path) {
  return InvalidArgument("The index entries " + Properties(definition) + " of the document " +
                         path.path() + " are too large: at most " + std::to_string(kEntryBytesMax) +
                         " bytes each and " + std::to_string(kEntryBytesPerDocumentMax) +
                         " together.");
}

// The document's vector, packed; nullopt if it has none, or one of another dimension.
std::optional<std::string> VectorOf(const VectorPart& part, std::string_view fields) {
  const std::optional<ValueView> value = model::FindField(fields, part.path);
  if (!value || value->type() != ValueType::kVector) return std::nullopt;
  if (vector::VectorDimension(*value) != part.dimension) return std::nullopt;
  return vector::PackVector(*value);
}

}  // namespace

EntryFlags DecodeFlags(std::string_view value) {
  EntryFlags flags;
  model::WireReader reader(value);
  uint64_t number = 0;
  if (reader.AtEnd() || !reader.Varint(&number)) return flags;
  flags.doubles = static_cast<uint32_t>(number);
  if (!reader.AtEnd() && reader.Varint(&number)) flags.cut_end = number;
  return flags;
}

Result<VectorEntry> DecodeVectorEntry(std::string_view value, uint32_t dimension) {
  const Status undecodable(Code::kDataLoss, "cannot decode an entry of a vector index");
  const size_t vector_bytes = dimension * sizeof(double);
  if (value.size() < vector_bytes) return undecodable;
  VectorEntry entry;
  entry.packed = value.substr(value.size() - vector_bytes);
  model::WireReader reader(value.substr(0, value.size() - vector_bytes));
  uint64_t doubles = 0;
  uint64_t cut_end = 0;
  if (!reader.Varint(&doubles) || !reader.Varint(&cut_end) || !reader.AtEnd()) return undecodable;
  entry.flags.doubles = static_cast<uint32_t>(doubles);
  entry.flags.cut_end = cut_end;
  return entry;
}

std::string IndexKeyPrefix(IndexNumber number) {
  return model::EncodeUint32(static_cast<uint32_t>(number));
}

std::string IndexKeyPrefix(IndexNumber number, std::string_view collection_path) {
  std::string key = IndexKeyPrefix(number);
  AppendSegments(collection_path, &key);
  return key.append(kPathEnd);
}

bool AppendComponent(const ValueView& value, FieldMode mode, std::string* key) {
  const size_t begin = key->size();
  AppendValueKey(value, key);
  const bool is_cut = key->size() - begin > kComponentBytesMax;
  if (is_cut) key->resize(begin + kComponentBytesMax);
  if (mode == FieldMode::kDescending) Complement(begin, key);
  return is_cut;
}

void AppendName(const DocumentPath& path, QueryScope scope, bool descending, std::string* key) {
  const size_t begin = key->size();
  if (scope == QueryScope::kCollection) {
    model::AppendSegment(path.id(), key);
  } else {
    AppendSegments(path.path(), key);
    key->append(kPathEnd);
  }
  if (descending) Complement(begin, key);
}

Result<DocumentPath> DecodeName(std::string_view name, QueryScope scope, bool descending,
                                std::string_view collection) {
  std::string plain(name);
  if (descending) Complement(0, &plain);
  std::string_view rest = plain;
  std::string path(collection);
  do {
    ASSIGN_OR_RETURN(const std::string segment, model::TakeSegment(&rest));
    if (!path.empty()) path.push_back('/');
    path.append(segment);
  } while (scope == QueryScope::kCollectionGroup && rest != kPathEnd);
  if (scope == QueryScope::kCollection && !rest.empty()) {
    return Status(Code::kDataLoss, "an index entry does not end with its name");
  }
  Result<DocumentPath> decoded = DocumentPath::Parse(path);
  if (!decoded.ok()) return Status(Code::kDataLoss, "an index entry names no document");
  return decoded;
}

bool HasSameValues(const Definition& definition, std::string_view fields,
                   std::string_view other_fields) {
  const auto is_same = [&](const model::FieldPath& path) {
    const std::optional<ValueView> value = model::FindField(fields, path);
    const std::optional<ValueView> other = model::FindField(other_fields, path);
    return value && other ? value->encoded() == other->encoded() : !value && !other;
  };
  return std::ranges::all_of(definition.fields,
                             [&](const IndexField& field) { return is_same(field.path); }) &&
         (!definition.vector || is_same(definition.vector->path));
}

Result<std::vector<Entry>> EntriesOf(IndexNumber number, const Definition& definition,
                                     const DocumentPath& path, std::string_view fields) {
  std::vector<Entry> entries;
  const std::optional<std::vector<ValueView>> values = ValuesOf(definition, fields);
  if (!values) return entries;
  std::optional<std::string> packed;
  if (definition.vector) {
    packed = VectorOf(*definition.vector, fields);
    if (!packed) return entries;
  }

  std::vector<Draft> drafts(1);
  drafts[0].key = definition.scope == QueryScope::kCollection
                      ? IndexKeyPrefix(number, path.collection())
                      : IndexKeyPrefix(number);
  for (size_t i = 0; i < values->size(); ++i) {
    const ValueView& value = (*values)[i];
    const FieldMode mode = definition.fields[i].mode;
    if (mode == FieldMode::kAscending || mode == FieldMode::kDescending) {
      for (Draft& draft : drafts) draft.Append(value, mode, i);
      continue;
    }
    if (!Multiply(value, mode, i, &drafts)) return TooLarge(definition, path);
  }

  SizeCheck size;
  for (Draft& draft : drafts) {
    AppendName(path, definition.scope, definition.name_descending, &draft.key);
    if (!size.Add(draft.key.size())) return TooLarge(definition, path);
    entries.push_back({std::move(draft.key), packed ? EncodeVectorEntry(draft.flags, *packed)
                                                    : EncodeFlags(draft.flags)});
  }
  std::sort(entries.begin(), entries.end());
  const auto same_key = [](const Entry& left, const Entry& right) { return left.key == right.key; };
  entries.erase(std::unique(entries.begin(), entries.end(), same_key), entries.end());
  return entries;
}

}  // namespace hearth::index
