#include "execution/document_streams.h"

#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/status_macros.h"
#include "model/document.h"
#include "model/path_encoding.h"

namespace hearth::execution {
namespace {

using model::DocumentPath;
using storage::Direction;
using storage::KeyRange;

using model::kDocumentMark;

// Fills `item` if the document is one of the query's results.
Result<bool> Take(const Context& context, std::string_view document_key, std::string_view record,
                  Item* item) {
  ASSIGN_OR_RETURN(const DocumentPath path, model::DocumentPathOfKey(document_key));
  context.tally->AddDocument(path);
  if (context.tally->statistics().documents_scanned > context.documents_max) {
    return Status(
        Code::kFailedPrecondition,
        "The query requires an index. That index is currently building and cannot be used "
        "yet, and without it the query would look at more than " +
            std::to_string(context.documents_max) + " documents.");
  }
  RETURN_IF_ERROR(context.Pause(record.size()));
  const std::string_view fields = model::RecordFields(record);
  if (!query::Matches(context.query, {context.source.database_name(), path, fields})) return false;
  std::optional<SortKey> key = SortKeyOf(context.layout, path, fields);
  if (!key) return false;
  item->key = *std::move(key);
  item->record = std::make_shared<const std::string>(record);
  return true;
}

// The range of names that the filters on `__name__` allow. All names if there are several
// disjuncts.
Range NameRange(const Context& context) {
  Range range;
  if (context.query.disjuncts.size() != 1) return range;
  // Uses ascending names, whatever the order of the results.
  Layout ascending = context.layout;
  ascending.name_descending = false;
  for (const query::FieldFilter& filter : context.query.disjuncts[0].filters) {
    if (!filter.path.IsName()) continue;
    const std::string_view reference = model::ValueView(filter.value).text();
    switch (filter.op) {
      case query::Operator::kLess:
        range.ReduceUpper(NamePosition(ascending, reference, false));
        break;
      case query::Operator::kLessOrEqual:
        range.ReduceUpper(NamePosition(ascending, reference, true));
        break;
      case query::Operator::kGreater:
        range.RaiseLower(NamePosition(ascending, reference, true));
        break;
      case query::Operator::kGreaterOrEqual:
        range.RaiseLower(NamePosition(ascending, reference, false));
        break;
      default:
        break;
    }
  }
  return range;
}

class CollectionScan final : public Stream {
 public:
  CollectionScan(const Context& context, std::unique_ptr<documents::DocumentCursor> cursor)
      : context_(context), cursor_(std::move(cursor)) {}

  Result<bool> Next(Item* item) override {
    for (; cursor_->Valid(); cursor_->Next()) {
      ASSIGN_OR_RETURN(const bool taken, Take(context_, cursor_->key(), cursor_->record(), item));
      if (!taken) continue;
      cursor_->Next();
      return true;
    }
    RETURN_IF_ERROR(cursor_->status());
    return false;
  }

 private:
  const Context context_;
  std::unique_ptr<documents::DocumentCursor> cursor_;
};

// Walks everything below the parent in the order of names. Documents of a collection are stored
// next to each other, before everything below them. In the order of names, each document comes
// right before everything below it. So every level of the walk has one cursor for its documents and
// one for everything below them.
class SubtreeScan final : public Stream {
 public:
  explicit SubtreeScan(const Context& context) : context_(context) {
    const model::ParentName& parent = context.query.query.parent;
    Level root;
    root.inside = model::DatabaseKeyPrefix(context.source.database_number()) +
                  model::EncodeSubtreePrefix(parent.document_path);
    root.below = context.source.ScanDocuments(storage::PrefixRange(root.inside));
    levels_.push_back(std::move(root));
  }

  Result<bool> Next(Item* item) override {
    while (!levels_.empty()) {
      RETURN_IF_ERROR(context_.Pause());
      Level& level = levels_.back();
      if (!level.inside.empty()) {
        ASSIGN_OR_RETURN(const bool entered, EnterNextCollection());
        if (!entered) LeaveDocument();
        continue;
      }
      ASSIGN_OR_RETURN(const std::string document_id,
                       NextSegment(level.documents, level.prefix, kDocumentMark.size()));
      ASSIGN_OR_RETURN(const std::string id_below, NextSegment(level.below, level.prefix, 0));
      if (document_id.empty() && id_below.empty()) {
        levels_.pop_back();
      } else if (!document_id.empty() && (id_below.empty() || document_id <= id_below)) {
        ASSIGN_OR_RETURN(const bool taken,
                         Take(context_, level.documents->key(), level.documents->record(), item));
        level.documents->Next();
        if (taken) return true;
      } else {
        level.inside = level.prefix + id_below;
      }
    }
    return false;
  }

 private:
  // Entering a collection takes a few seeks, which cost as much as reading this much.
  static constexpr size_t kBytesPerCollection = 32 * 1024;

  // One collection. The first level is the parent itself and has only `inside`.
  struct Level {
    std::string prefix;  // Key prefix of the collection and everything in it.
    std::unique_ptr<documents::DocumentCursor> documents;  // Null: not wanted.
    std::unique_ptr<documents::DocumentCursor> below;      // Null: not wanted.
    std::string inside;  // The prefix of the document whose collections are being walked.
  };

  // The encoded segment after `prefix` and `skip` more bytes; empty at the end.
  static Result<std::string> NextSegment(const std::unique_ptr<documents::DocumentCursor>& cursor,
                                         const std::string& prefix, size_t skip) {
    if (!cursor) return std::string();
    if (!cursor->Valid()) {
      RETURN_IF_ERROR(cursor->status());
      return std::string();
    }
    const std::string_view key = cursor->key().substr(prefix.size() + skip);
    std::string_view rest = key;
    RETURN_IF_ERROR(model::TakeSegment(&rest).status());
    return std::string(key.substr(0, key.size() - rest.size()));
  }

  // Descends into the next collection of the document that the last level is inside.
  Result<bool> EnterNextCollection() {
    Level& level = levels_.back();
    if (!level.below->Valid()) {
      RETURN_IF_ERROR(level.below->status());
      return false;
    }
    if (!level.below->key().starts_with(level.inside)) return false;
    std::string_view rest = level.below->key().substr(level.inside.size());
    const size_t length_before = rest.size();
    ASSIGN_OR_RETURN(const std::string collection_id, model::TakeSegment(&rest));
    Level collection;
    collection.prefix =
        level.below->key().substr(0, level.inside.size() + length_before - rest.size());
    const KeyRange everything = storage::PrefixRange(collection.prefix);
    RETURN_IF_ERROR(context_.Pause(kBytesPerCollection));
    level.below->Seek(everything.last);

    const query::Query& query = context_.query.query;
    const KeyRange documents = storage::PrefixRange(collection.prefix + std::string(kDocumentMark));
    if (query.collection_id.empty() || query.collection_id == collection_id) {
      collection.documents = context_.source.ScanDocuments(documents);
    }
    if (query.all_descendants) {
      collection.below = context_.source.ScanDocuments({documents.last, everything.last});
    }
    levels_.push_back(std::move(collection));
    return true;
  }

  void LeaveDocument() {
    if (levels_.size() == 1) return levels_.clear();
    levels_.back().inside.clear();
  }

  const Context context_;
  std::vector<Level> levels_;
};

class Lookup final : public Stream {
 public:
  Lookup(const Context& context, const query::Conjunction& conjunction, std::string_view reference)
      : context_(context), conjunction_(conjunction), reference_(reference) {}

  Result<bool> Next(Item* item) override {
    if (done_) return false;
    done_ = true;
    const Result<model::DocumentName> name = model::DocumentName::Parse(reference_);
    if (!name.ok() || name->database != context_.source.database_name() ||
        !query::IsInScope(context_.query.query, name->path)) {
      return false;
    }
    ASSIGN_OR_RETURN(model::Record record, context_.source.Get(name->path));
    context_.tally->AddDocument(name->path);
    if (!record) return false;
    RETURN_IF_ERROR(context_.Pause(record->size()));
    const std::string_view fields = model::RecordFields(*record);
    if (!query::Matches(conjunction_, {context_.source.database_name(), name->path, fields}))
      return false;
    std::optional<SortKey> key = SortKeyOf(context_.layout, name->path, fields);
    if (!key) return false;
    item->key = *std::move(key);
    item->record = std::move(record);
    return true;
  }

 private:
  const Context context_;
  const query::Conjunction& conjunction_;
  const std::string reference_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<Stream> NewCollectionScan(const Context& context, Direction direction) {
  const Result<model::CollectionPath> collection =
      model::CollectionPath::Parse(context.layout.collection);
  CHECK(collection.ok());  // The query was validated before.
  Range names = NameRange(context);
  if (context.layout.fields.empty()) {
    Range cursors = CursorRange(context.layout, context.query, {}, Cut::kNo);
    // In a layout without fields, names ascend.
    if (cursors.lower) names.RaiseLower(*std::move(cursors.lower));
    if (cursors.upper) names.ReduceUpper(*std::move(cursors.upper));
  }
  const KeyRange range =
      ToKeyRange(model::CollectionKeyPrefix(context.source.database_number(), *collection), names);
  std::unique_ptr<documents::DocumentCursor> cursor =
      direction == Direction::kForward ? context.source.ScanDocuments(range)
                                       : context.source.ScanDocumentsBackward(range);
  if (!cursor) return nullptr;
  return std::make_unique<CollectionScan>(context, std::move(cursor));
}

std::unique_ptr<Stream> NewSubtreeScan(const Context& context) {
  return std::make_unique<SubtreeScan>(context);
}

std::unique_ptr<Stream> NewLookup(const Context& context, const query::Conjunction& conjunction,
                                  const query::FieldFilter& name_filter) {
  return std::make_unique<Lookup>(context, conjunction, model::ValueView(name_filter.value).text());
}

}  // namespace hearth::execution
