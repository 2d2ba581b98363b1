#include "documents/document_cursor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "documents/keys.h"

namespace hearth::documents {
namespace {

using model::Timestamp;
using storage::Cursor;
using storage::Direction;
using storage::KeyRange;
using storage::Snapshot;
using storage::Space;

class PresentCursor final : public DocumentCursor {
 public:
  PresentCursor(const Snapshot& snapshot, KeyRange range, Direction direction,
                const PauseFunction* pause)
      : documents_(snapshot.Scan(Space::kDocuments, std::move(range), direction, pause)) {}

  bool Valid() const override { return documents_->Valid(); }
  Status status() const override { return documents_->status(); }
  std::string_view key() const override { return documents_->key(); }
  std::string_view record() const override { return documents_->value(); }
  void Next() override { documents_->Next(); }
  void Seek(std::string_view document_key) override { documents_->Seek(document_key); }

 private:
  std::unique_ptr<Cursor> documents_;
};

// Merges the documents with the history, both in key order.
class PastCursor final : public DocumentCursor {
 public:
  PastCursor(const Snapshot& snapshot, KeyRange range, Timestamp read_time,
             const PauseFunction* pause)
      : read_time_(read_time),
        pause_(pause != nullptr && *pause ? pause : nullptr),
        documents_(snapshot.Scan(Space::kDocuments, range, Direction::kForward, pause)),
        history_(snapshot.Scan(Space::kHistory, std::move(range), Direction::kForward, pause)) {
    Settle();
  }

  bool Valid() const override { return valid_; }
  Status status() const override {
    if (!paused_.ok()) return paused_;
    return documents_->status().ok() ? history_->status() : documents_->status();
  }
  std::string_view key() const override { return key_; }
  std::string_view record() const override { return record_; }
  void Next() override { Settle(); }
  void Seek(std::string_view document_key) override {
    documents_->Seek(document_key);
    history_->Seek(document_key);
    Settle();
  }

 private:
  // Moves both cursors past the next document that existed at the read time, and keeps that
  // document.
  void Settle() {
    valid_ = false;
    bool has_passed_over = false;
    while (!valid_ && (documents_->Valid() || history_->Valid()) && status().ok()) {
      // Millions of documents may have been created since the read time.
      if (std::exchange(has_passed_over, true) && pause_ != nullptr) {
        if (paused_ = (*pause_)(); !paused_.ok()) return;
      }
      const std::string_view changed =
          history_->Valid() ? DocumentKeyOfHistoryKey(history_->key()) : std::string_view();
      const bool has_history =
          history_->Valid() && (!documents_->Valid() || changed <= documents_->key());
      key_ = has_history ? changed : documents_->key();
      const bool is_present = documents_->Valid() && documents_->key() == key_;
      record_ = is_present ? documents_->value() : std::string_view();
      if (has_history) PutBack();
      if (is_present) documents_->Next();
      valid_ = !record_.empty();
    }
    valid_ = valid_ && status().ok();
  }

  // Replaces record_ with the record that the first commit after the read time replaced, if there
  // is one, and moves past the document's history.
  void PutBack() {
    history_->Seek(HistoryKey(key_, Timestamp::FromMicros(read_time_.micros() + 1)));
    if (history_->Valid() && DocumentKeyOfHistoryKey(history_->key()) == key_) {
      record_ = history_->value();
    }
    history_->Seek(HistoryKey(key_, Timestamp::FromMicros(std::numeric_limits<int64_t>::max())));
  }

  const Timestamp read_time_;
  const PauseFunction* const pause_;  // Null: the cursor never pauses.
  Status paused_;
  std::unique_ptr<Cursor> documents_;
  std::unique_ptr<Cursor> history_;
  bool valid_ = false;
  std::string key_;
  std::string record_;  // Empty: the document did not exist.
};

}  // namespace

std::unique_ptr<DocumentCursor> NewPresentCursor(const Snapshot& snapshot, KeyRange range,
                                                 Direction direction, const PauseFunction* pause) {
  return std::make_unique<PresentCursor>(snapshot, std::move(range), direction, pause);
}

std::unique_ptr<DocumentCursor> NewPastCursor(const Snapshot& snapshot, KeyRange range,
                                              Timestamp read_time, const PauseFunction* pause) {
  return std::make_unique<PastCursor>(snapshot, std::move(range), read_time, pause);
}

}  // namespace hearth::documents
