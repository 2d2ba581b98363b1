#include "client/writes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "client/references.h"
#include "client/transport.h"
#include "model/limits.h"

namespace hearth::client {
namespace {

using model::FieldEditor;
using model::FieldPath;
using model::Fields;
using model::FieldTransform;
using model::TransformKind;
using request::Write;
using request::WriteKind;

// Where data may hold FieldValue::Delete().
enum class Deletes : uint8_t { kNowhere, kAtTheTop, kAnywhere };

// Whether to collect the paths of all fields that are set or deleted: the mask of a merge.
enum class Leaves : uint8_t { kSkip, kCollect };

// A path into nested maps.
using Segments = std::vector<std::string_view>;

Result<FieldPath> ToPath(const Segments& segments) {
  std::string text;
  for (const std::string_view segment : segments) {
    if (!text.empty()) text.push_back('.');
    text.push_back('`');
    for (const char c : segment) {
      if (c == '`' || c == '\\') text.push_back('\\');
      text.push_back(c);
    }
    text.push_back('`');
  }
  return FieldPath::Parse(text);
}

// "a.b", for error messages.
std::string TextOf(const Segments& segments) {
  const Result<FieldPath> path = ToPath(segments);
  return path.ok() ? path->ToString() : std::string(segments.back());
}

TransformKind ToTransformKind(FieldValue::Kind kind) {
  switch (kind) {
    case FieldValue::Kind::kIncrement:
      return TransformKind::kIncrement;
    case FieldValue::Kind::kMaximum:
      return TransformKind::kMaximum;
    case FieldValue::Kind::kMinimum:
      return TransformKind::kMinimum;
    case FieldValue::Kind::kArrayUnion:
      return TransformKind::kArrayUnion;
    case FieldValue::Kind::kArrayRemove:
      return TransformKind::kArrayRemove;
    case FieldValue::Kind::kDelete:
    case FieldValue::Kind::kServerTimestamp:
      break;
  }
  return TransformKind::kServerTime;
}

Result<FieldTransform> ToTransform(FieldPath path, const FieldValue& value) {
  FieldTransform transform{std::move(path), ToTransformKind(value.kind()), ""};
  if (transform.kind == TransformKind::kServerTime) return transform;
  const bool is_array =
      transform.kind == TransformKind::kArrayUnion || transform.kind == TransformKind::kArrayRemove;
  ASSIGN_OR_RETURN(transform.operand,
                   is_array ? Encode(Value(value.operands())) : Encode(value.operands().front()));
  ASSIGN_OR_RETURN(transform.operand, model::ValidateValue(std::move(transform.operand)));
  RETURN_IF_ERROR(ValidateTransform(transform));
  return transform;
}

// Splits data into encoded values, transforms and the paths for a mask.
//
// Threads: one at a time. Recursion depth is that of the data.
class DataSplitter {
 public:
  DataSplitter(Deletes deletes, Leaves wanted) : deletes_(deletes), wanted_(wanted) {}

  // The encoded value without its FieldValues; nullopt if nothing is left. `top`: the level at
  // which the write names the field; deeper values are nested in it.
  Result<std::optional<std::string>> Split(const Value& value, Segments* segments, size_t top) {
    if (const FieldValue* change = value.field_value()) {
      RETURN_IF_ERROR(Take(*change, *segments, top));
      return std::optional<std::string>();
    }
    const Map* map = value.map();
    if (map && !map->empty()) return SplitMap(*map, segments, top);
    RETURN_IF_ERROR(NoteLeaf(*segments));
    ASSIGN_OR_RETURN(std::string encoded, Encode(value));
    return std::optional<std::string>(std::move(encoded));
  }

  std::vector<FieldTransform>& transforms() { return transforms_; }
  // The paths that are set or deleted: values, empty maps and FieldValue::Delete().
  std::vector<FieldPath>& leaves() { return leaves_; }

 private:
  Result<std::optional<std::string>> SplitMap(const Map& map, Segments* segments, size_t top) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (const auto& [name, value] : map) {
      segments->push_back(name);
      ASSIGN_OR_RETURN(std::optional<std::string> encoded, Split(value, segments, top));
      segments->pop_back();
      if (encoded) entries.emplace_back(name, *std::move(encoded));
    }
    if (entries.empty()) return std::optional<std::string>();
    return std::optional<std::string>(model::EncodeMap(entries));
  }

  Status NoteLeaf(const Segments& segments) {
    if (wanted_ == Leaves::kSkip) return Status();
    ASSIGN_OR_RETURN(FieldPath path, ToPath(segments));
    leaves_.push_back(std::move(path));
    return Status();
  }

  Status Take(const FieldValue& change, const Segments& segments, size_t top) {
    if (change.kind() != FieldValue::Kind::kDelete) {
      ASSIGN_OR_RETURN(FieldPath path, ToPath(segments));
      Result<FieldTransform> transform = ToTransform(std::move(path), change);
      if (!transform.ok()) {
        return transform.status().While(std::string(change.name()) + " in field \"" +
                                        TextOf(segments) + '"');
      }
      transforms_.push_back(*std::move(transform));
      return Status();
    }
    const bool is_allowed = deletes_ == Deletes::kAnywhere ||
                            (deletes_ == Deletes::kAtTheTop && segments.size() == top);
    if (!is_allowed) {
      return InvalidArgument(
          "FieldValue::Delete() must appear at the top-level and can only be used in Update() or "
          "Set() with merge (found in field \"" +
          TextOf(segments) + "\").");
    }
    return NoteLeaf(segments);
  }

  const Deletes deletes_;
  const Leaves wanted_;
  std::vector<FieldTransform> transforms_;
  std::vector<FieldPath> leaves_;
};

Segments SegmentsOf(const FieldPath& path) {
  return Segments(path.segments().begin(), path.segments().end());
}

Status AddTransforms(std::vector<FieldTransform> transforms, Write* write) {
  if (transforms.size() > model::kTransformsPerDocumentMax) {
    return InvalidArgument(
        "a document can have at most " + std::to_string(model::kTransformsPerDocumentMax) +
        " field transforms in one write, this one has " + std::to_string(transforms.size()));
  }
  write->transforms = std::move(transforms);
  return Status();
}

Write NewWrite(const model::DocumentPath& path, WriteKind kind) {
  return Write{path, kind, {}, {}, {}, {}};
}

// All of `data`. With Deletes::kAnywhere it is merged into the document, else it replaces it.
Result<Write> WholeWrite(const model::DocumentPath& path, const Map& data, Deletes deletes) {
  const bool is_merge = deletes == Deletes::kAnywhere;
  DataSplitter splitter(deletes, is_merge ? Leaves::kCollect : Leaves::kSkip);
  std::string encoded;
  for (const auto& [name, value] : data) {
    Segments segments{name};
    ASSIGN_OR_RETURN(const std::optional<std::string> field, splitter.Split(value, &segments, 1));
    if (field) model::AppendField(model::MapView::Tag::kDocument, name, *field, &encoded);
  }
  Write write = NewWrite(path, WriteKind::kUpdate);
  ASSIGN_OR_RETURN(write.fields, Fields::Validate(std::move(encoded)));
  RETURN_IF_ERROR(AddTransforms(std::move(splitter.transforms()), &write));
  if (is_merge) write.mask = std::move(splitter.leaves());
  return write;
}

// The value at `path`; null if there is none.
const Value* Find(const Map& data, const FieldPath& path) {
  const Map* map = &data;
  const Value* value = nullptr;
  for (const std::string& segment : path.segments()) {
    if (!map) return nullptr;
    const auto found = map->find(segment);
    if (found == map->end()) return nullptr;
    value = &found->second;
    map = value->map();
  }
  return value;
}

struct FieldChange {
  FieldPath path;
  const Value* value;
};

// Sets each path to its value, and nothing else.
Result<Write> PathsWrite(const model::DocumentPath& path, const std::vector<FieldChange>& changes,
                         Deletes deletes) {
  DataSplitter splitter(deletes, Leaves::kSkip);
  FieldEditor editor{Fields()};
  std::vector<FieldPath> mask;
  for (const FieldChange& change : changes) {
    Segments segments = SegmentsOf(change.path);
    ASSIGN_OR_RETURN(std::optional<std::string> encoded,
                     splitter.Split(*change.value, &segments, segments.size()));
    if (encoded) editor.Set(change.path, *std::move(encoded));
    const FieldValue* field_value = change.value->field_value();
    const bool is_transform = field_value && field_value->kind() != FieldValue::Kind::kDelete;
    if (!is_transform) mask.push_back(change.path);
  }
  Write write = NewWrite(path, WriteKind::kUpdate);
  ASSIGN_OR_RETURN(write.fields, Fields::Validate(std::string(editor.Finish().encoded())));
  RETURN_IF_ERROR(AddTransforms(std::move(splitter.transforms()), &write));
  write.mask = std::move(mask);
  return write;
}

Result<Write> MergeFieldsWrite(const model::DocumentPath& path, const Map& data,
                               const std::vector<std::string>& merge_fields) {
  std::vector<FieldPath> paths;
  for (const std::string& text : merge_fields) {
    ASSIGN_OR_RETURN(FieldPath field, FieldPath::Parse(text));
    paths.push_back(std::move(field));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<FieldChange> changes;
  for (FieldPath& field : paths) {
    // Fields within another path are set with it.
    if (!changes.empty() && changes.back().path.IsPrefixOf(field)) continue;
    const Value* value = Find(data, field);
    if (!value) {
      return InvalidArgument("Input data is missing for field \"" + field.ToString() + "\".");
    }
    changes.push_back({std::move(field), value});
  }
  return PathsWrite(path, changes, Deletes::kAnywhere);
}

Result<std::vector<FieldChange>> ReadUpdate(const Map& data) {
  if (data.empty()) return InvalidArgument("At least one field must be updated.");
  std::vector<FieldChange> changes;
  for (const auto& [text, value] : data) {
    ASSIGN_OR_RETURN(FieldPath path, FieldPath::Parse(text));
    changes.push_back({std::move(path), &value});
  }
  std::sort(changes.begin(), changes.end(),
            [](const FieldChange& a, const FieldChange& b) { return a.path < b.path; });
  for (size_t i = 1; i < changes.size(); ++i) {
    if (changes[i - 1].path.IsPrefixOf(changes[i].path)) {
      return InvalidArgument("Field \"" + changes[i - 1].path.ToString() +
                             "\" was specified multiple times.");
    }
  }
  return changes;
}

Result<request::Precondition> ToPrecondition(const Precondition& precondition) {
  if (precondition.exists && precondition.last_update_time) {
    return InvalidArgument("Input specifies more than one precondition.");
  }
  return request::Precondition{precondition.exists, precondition.last_update_time};
}

}  // namespace

Result<Write> CreateWrite(const model::DocumentPath& path, const Map& data) {
  ASSIGN_OR_RETURN(Write write, WholeWrite(path, data, Deletes::kNowhere));
  write.precondition.exists = false;
  return write;
}

Result<Write> SetWrite(const model::DocumentPath& path, const Map& data,
                       const SetOptions& options) {
  if (!options.merge_fields.empty()) return MergeFieldsWrite(path, data, options.merge_fields);
  return WholeWrite(path, data, options.merge ? Deletes::kAnywhere : Deletes::kNowhere);
}

Result<Write> UpdateWrite(const model::DocumentPath& path, const Map& data,
                          const Precondition& precondition) {
  ASSIGN_OR_RETURN(const std::vector<FieldChange> changes, ReadUpdate(data));
  ASSIGN_OR_RETURN(Write write, PathsWrite(path, changes, Deletes::kAtTheTop));
  ASSIGN_OR_RETURN(write.precondition, ToPrecondition(precondition));
  if (precondition.exists == false) {
    return InvalidArgument("An update cannot require that the document does not exist.");
  }
  if (!precondition.last_update_time) write.precondition.exists = true;
  return write;
}

Result<Write> DeleteWrite(const model::DocumentPath& path, const Precondition& precondition) {
  Write write = NewWrite(path, WriteKind::kDelete);
  ASSIGN_OR_RETURN(write.precondition, ToPrecondition(precondition));
  return write;
}

WriteBatch::WriteBatch(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

WriteBatch& WriteBatch::Add(Result<Write> write) {
  if (write.ok()) {
    writes_.push_back(*std::move(write));
  } else if (error_.ok()) {
    error_ = write.status();
  }
  return *this;
}

WriteBatch& WriteBatch::Create(const DocumentReference& document, const Map& data) {
  return Add(document.CreateWrite(data));
}

WriteBatch& WriteBatch::Set(const DocumentReference& document, const Map& data,
                            const SetOptions& options) {
  return Add(document.SetWrite(data, options));
}

WriteBatch& WriteBatch::Update(const DocumentReference& document, const Map& data,
                               const Precondition& precondition) {
  return Add(document.UpdateWrite(data, precondition));
}

WriteBatch& WriteBatch::Delete(const DocumentReference& document,
                               const Precondition& precondition) {
  return Add(document.DeleteWrite(precondition));
}

Result<std::vector<WriteResult>> WriteBatch::Commit() { return CommitIn(""); }

Result<std::vector<WriteResult>> WriteBatch::CommitIn(const std::string& transaction) {
  std::vector<Write> writes = std::exchange(writes_, {});
  const Status error = std::exchange(error_, Status());
  if (!error.ok()) return error;
  ASSIGN_OR_RETURN(const TransportCommit commit,
                   transport_->Commit(std::move(writes), transaction));
  std::vector<WriteResult> results;
  results.reserve(commit.results.size());
  for (const TransportWriteResult& result : commit.results) {
    results.push_back({result.update_time});
  }
  return results;
}

}  // namespace hearth::client
