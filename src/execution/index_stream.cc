#include "execution/index_stream.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "index/entries.h"
#include "index/value_key.h"
#include "model/document.h"
#include "model/path_encoding.h"

namespace hearth::execution {
namespace {

using index::ByteOrder;
using index::EntryFlags;
using model::DocumentPath;
using storage::Direction;

ByteOrder OrderOf(const query::Order& order) {
  return order.direction == query::SortDirection::kAscending ? ByteOrder::kAscending
                                                             : ByteOrder::kDescending;
}

Range Complemented(const Range& range) {
  Range result;
  if (range.upper) result.lower = Complemented(*range.upper);
  if (range.lower) result.upper = Complemented(*range.lower);
  return result;
}

// The entries of one index, as suffixes in the layout's directions.
class SuffixCursor {
 public:
  SuffixCursor(const Context& context, const ScannedIndex& scanned, const Range& range)
      : inverted_(scanned.inverted), prefix_(scanned.prefix), tally_(context.tally) {
    const Direction direction =
        context.layout.backward != inverted_ ? Direction::kBackward : Direction::kForward;
    entries_ = context.source.ScanIndexes(
        ToKeyRange(prefix_, inverted_ ? Complemented(range) : range), direction);
    Arrive();
  }

  bool Valid() const { return entries_->Valid(); }
  Status status() const { return entries_->status(); }
  std::string_view suffix() const {
    return inverted_ ? inverse_ : entries_->key().substr(prefix_.size());
  }
  EntryFlags flags() const { return index::DecodeFlags(entries_->value()); }
  size_t prefix_size() const { return prefix_.size(); }

  void Next() {
    entries_->Next();
    Arrive();
  }
  void Seek(std::string_view suffix) {
    std::string key = prefix_;
    key.append(suffix);
    if (inverted_) index::Complement(prefix_.size(), &key);
    entries_->Seek(key);
    Arrive();
  }

 private:
  void Arrive() {
    if (!entries_->Valid()) return;
    tally_->AddEntry(entries_->key());
    if (!inverted_) return;
    inverse_ = entries_->key().substr(prefix_.size());
    index::Complement(0, &inverse_);
  }

  const bool inverted_;
  const std::string prefix_;
  Tally* const tally_;
  std::unique_ptr<storage::Cursor> entries_;
  std::string inverse_;
};

class IndexStream final : public Stream {
 public:
  IndexStream(const Context& context, const query::Conjunction& conjunction, IndexScan scan)
      : context_(context),
        conjunction_(conjunction),
        scan_(std::move(scan)),
        bounds_(CursorRange(context.layout, context.query, {}, Cut::kNo)),
        group_claim_(context.memory) {
    for (const query::Order& order : context.layout.fields) {
      if (!scan_.constants.contains(order.path)) suffix_fields_.push_back(&order);
    }
    for (size_t i = 0; i < std::min(kFlaggedMax, context.layout.fields.size()); ++i) {
      FindFlag(context.layout.fields[i].path, i);
    }
    has_all_flags_ = std::ranges::all_of(scan_.indexes, [](const ScannedIndex& scanned) {
      return scanned.index->definition.fields.size() <= kFlaggedMax;
    });
  }

  Result<bool> Next(Item* item) override {
    while (true) {
      if (next_of_group_ < group_.size()) {
        *item = std::move(group_[next_of_group_++]);
        return true;
      }
      ASSIGN_OR_RETURN(const bool found, MoveToNext());
      if (!found) return false;
      const size_t cut = CutLength();
      if (cut != 0) {
        RETURN_IF_ERROR(ReadGroup(cut));
        continue;
      }
      is_decided_ = true;
      ASSIGN_OR_RETURN(const bool taken, TakeEntry(item));
      if (taken) return true;
    }
  }

 private:
  // Moves to the next suffix that all cursors have and that has not been decided yet. Does not read
  // entries ahead.
  Result<bool> MoveToNext() {
    if (cursors_.empty()) {
      for (const ScannedIndex& scanned : scan_.indexes) {
        cursors_.push_back(std::make_unique<SuffixCursor>(context_, scanned, scan_.range));
      }
    }
    if (std::exchange(is_decided_, false)) cursors_[0]->Next();
    return Align();
  }

  // Moves the cursors forward to the first suffix that all of them have.
  Result<bool> Align() {
    while (true) {
      RETURN_IF_ERROR(context_.Pause());
      SuffixCursor& first = *cursors_[0];
      SuffixCursor* ahead = nullptr;  // A cursor that is past the first one's suffix.
      for (size_t i = 0; i < cursors_.size() && ahead == nullptr; ++i) {
        SuffixCursor& cursor = *cursors_[i];
        if (cursor.Valid() && i > 0 && context_.layout.Before(cursor.suffix(), first.suffix())) {
          cursor.Seek(first.suffix());
        }
        if (!cursor.Valid()) {
          RETURN_IF_ERROR(cursor.status());
          return false;
        }
        if (cursor.suffix() != first.suffix()) ahead = &cursor;
      }
      if (ahead == nullptr) return true;
      first.Seek(ahead->suffix());
    }
  }

  // The length of the suffix up to the end of the first truncated component; 0: nothing is
  // truncated. If a fixed value was truncated, the order is right, but the document must be
  // checked.
  size_t CutLength() {
    is_doubtful_ = false;
    for (const auto& cursor : cursors_) {
      const EntryFlags flags = cursor->flags();
      if (flags.cut_end == 0) continue;
      is_doubtful_ = true;
      if (flags.cut_end > cursor->prefix_size()) return flags.cut_end - cursor->prefix_size();
    }
    return 0;
  }

  // Decides whether the current entry is a result.
  Result<bool> TakeEntry(Item* item) {
    const std::string_view suffix = cursors_[0]->suffix();
    SortKey key;
    ASSIGN_OR_RETURN(const bool passes, Compose(suffix, &key));
    if (!passes) return false;
    const uint32_t doubles = Doubles();
    const bool has_changed_documents = !context_.source.changed()->empty();
    if (scan_.is_exact && !is_doubtful_ && !has_changed_documents) {
      *item = {std::move(key), nullptr, doubles, !has_all_flags_};
      return true;
    }
    ASSIGN_OR_RETURN(const DocumentPath path, PathOf(context_.layout, key));
    if (has_changed_documents && IsChanged(path)) return false;
    *item = {std::move(key), nullptr, doubles, !has_all_flags_};
    if (scan_.is_exact && !is_doubtful_) return true;
    return TakeDocument(path, item);
  }

  // Reads the document and checks whether it is a result. The item then has the complete sort key.
  Result<bool> TakeDocument(const DocumentPath& path, Item* item) {
    ASSIGN_OR_RETURN(model::Record record, context_.source.Get(path));
    context_.tally->AddDocument(path);
    if (!record) {
      return Status(Code::kDataLoss,
                    "an index has an entry for a document that does not exist: " + path.path());
    }
    RETURN_IF_ERROR(context_.Pause(record->size()));
    const std::string_view fields = model::RecordFields(*record);
    if (!query::Matches(conjunction_, {context_.source.database_name(), path, fields}))
      return false;
    std::optional<SortKey> key = SortKeyOf(context_.layout, path, fields);
    if (!key || !bounds_.Contains(key->bytes)) return false;
    *item = {.key = *std::move(key), .record = std::move(record), .was_read = true};
    return true;
  }

  bool IsChanged(const DocumentPath& path) const {
    return context_.source.changed()->contains(
        model::DocumentKey(context_.source.database_number(), path));
  }

  // Records which flag of the entries tells whether the field, component `i` of sort keys, is a
  // double.
  void FindFlag(const model::FieldPath& path, size_t i) {
    for (size_t cursor = 0; cursor < scan_.indexes.size(); ++cursor) {
      const std::vector<index::IndexField>& fields = scan_.indexes[cursor].index->definition.fields;
      for (size_t bit = 0; bit < std::min(kFlaggedMax, fields.size()); ++bit) {
        if (fields[bit].path != path || fields[bit].mode == index::FieldMode::kContains) continue;
        flags_.push_back({cursor, bit, i});
        return;
      }
    }
  }

  uint32_t Doubles() const {
    uint32_t doubles = 0;
    for (const Flag& flag : flags_) {
      if ((cursors_[flag.cursor]->flags().doubles >> flag.bit & 1) != 0) {
        doubles |= uint32_t{1} << flag.component;
      }
    }
    return doubles;
  }

  // Splits the suffix into components. False if one of them does not pass its filter. The sort key
  // includes the constant components.
  Result<bool> Compose(std::string_view suffix, SortKey* key) {
    auto filter = scan_.filters.begin();
    size_t position = 0;
    size_t component = 0;
    for (const query::Order& order : context_.layout.fields) {
      if (const auto constant = scan_.constants.find(order.path);
          constant != scan_.constants.end()) {
        const size_t begin = key->bytes.size();
        key->bytes += constant->second;
        if (order.direction == query::SortDirection::kDescending)
          index::Complement(begin, &key->bytes);
        continue;
      }
      const std::optional<size_t> length =
          index::ComponentLength(suffix.substr(position), OrderOf(order));
      if (!length) return Status(Code::kDataLoss, "cannot decode an index entry");
      const std::string_view bytes = suffix.substr(position, *length);
      for (; filter != scan_.filters.end() && filter->component == component; ++filter) {
        if (!Passes(*filter, bytes, order)) return false;
      }
      key->bytes += bytes;
      position += *length;
      ++component;
    }
    key->name_at = key->bytes.size();
    key->bytes += suffix.substr(position);
    return true;
  }

  static bool Passes(const ComponentFilter& filter, std::string_view bytes,
                     const query::Order& order) {
    std::string ascending;
    if (order.direction == query::SortDirection::kDescending) {
      ascending = bytes;
      index::Complement(0, &ascending);
      bytes = ascending;
    }
    const std::vector<std::string>& excluded = filter.values.excluded;
    return filter.values.range.Contains(bytes) &&
           std::find(excluded.begin(), excluded.end(), bytes) == excluded.end();
  }

  // Reads all documents whose suffixes share the first `cut` bytes, and sorts them.
  Status ReadGroup(size_t cut) {
    const std::string common(cursors_[0]->suffix().substr(0, cut));
    group_.clear();
    group_claim_.Reset();
    next_of_group_ = 0;
    size_t bytes = 0;
    while (true) {
      ASSIGN_OR_RETURN(const bool found, Align());
      if (!found || !cursors_[0]->suffix().starts_with(common)) break;
      ASSIGN_OR_RETURN(const DocumentPath path, PathOfSuffix(cursors_[0]->suffix()));
      Item item;
      const bool is_changed = IsChanged(path);
      ASSIGN_OR_RETURN(const bool taken,
                       is_changed ? Result<bool>(false) : TakeDocument(path, &item));
      if (taken) {
        item.record = nullptr;  // Read again when it is returned.
        item.was_cut = true;
        bytes += item.key.bytes.size() + sizeof(Item);
        if (bytes > kCutGroupBytesMax || !group_claim_.Reserve(bytes)) {
          return Status(Code::kResourceExhausted, "too many documents have the same first " +
                                                      std::to_string(index::kComponentBytesMax) +
                                                      " bytes in a field that the query orders by");
        }
        group_.push_back(std::move(item));
      }
      cursors_[0]->Next();
    }
    std::sort(group_.begin(), group_.end(), [this](const Item& left, const Item& right) {
      return context_.layout.Before(left.key.bytes, right.key.bytes);
    });
    return Status();
  }

  Result<DocumentPath> PathOfSuffix(std::string_view suffix) const {
    size_t position = 0;
    for (const query::Order* order : suffix_fields_) {
      const std::optional<size_t> length =
          index::ComponentLength(suffix.substr(position), OrderOf(*order));
      if (!length) return Status(Code::kDataLoss, "cannot decode an index entry");
      position += *length;
    }
    return PathOf(context_.layout, {std::string(suffix), position});
  }

  static constexpr size_t kFlaggedMax = 32;  // Bits of EntryFlags::doubles and Item::doubles.

  // Bit `bit` in the entries of cursor number `cursor` belongs to component `component` of sort
  // keys.
  struct Flag {
    size_t cursor;
    size_t bit;
    size_t component;
  };

  const Context context_;
  const query::Conjunction& conjunction_;
  const IndexScan scan_;
  const Range bounds_;  // Range of complete sort keys.
  std::vector<std::unique_ptr<SuffixCursor>> cursors_;
  std::vector<const query::Order*> suffix_fields_;
  std::vector<Flag> flags_;
  bool has_all_flags_;
  bool is_decided_ = false;  // Whether the current entry has been decided.
  bool is_doubtful_ = false;
  std::vector<Item> group_;
  MemoryClaim group_claim_;
  size_t next_of_group_ = 0;
};

}  // namespace

std::unique_ptr<Stream> NewIndexStream(const Context& context,
                                       const query::Conjunction& conjunction, IndexScan scan) {
  CHECK(!scan.indexes.empty());
  CHECK(context.source.changed().has_value());
  return std::make_unique<IndexStream>(context, conjunction, std::move(scan));
}

}  // namespace hearth::execution
