#include "execution/merge.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace hearth::execution {
namespace {

class Merge final : public Stream {
 public:
  Merge(std::vector<std::unique_ptr<Stream>> inputs, const Layout& layout)
      : layout_(layout), waiting_(std::move(inputs)) {}

  Result<bool> Next(Item* item) override {
    // Streams to read from: all of them at first, later those whose item was taken.
    while (!waiting_.empty()) {
      Head head{std::move(waiting_.back()), {}};
      waiting_.pop_back();
      ASSIGN_OR_RETURN(const bool found, head.stream->Next(&head.item));
      if (found) Push(std::move(head));
    }
    if (heads_.empty()) return false;
    Head first = Pop();
    *item = std::move(first.item);
    waiting_.push_back(std::move(first.stream));
    while (!heads_.empty() && heads_.front().item.key.bytes == item->key.bytes) {
      Head same = Pop();
      if (!item->record) item->record = std::move(same.item.record);
      item->was_read |= same.item.was_read;
      waiting_.push_back(std::move(same.stream));
    }
    return true;
  }

 private:
  struct Head {
    std::unique_ptr<Stream> stream;
    Item item;
  };

  // The heap has the first item on top.
  auto Later() const {
    return [this](const Head& left, const Head& right) {
      return layout_.Before(right.item.key.bytes, left.item.key.bytes);
    };
  }
  void Push(Head head) {
    Item& item = head.item;
    if (item.record && item.record->size() > kMergedRecordBytesMax) {
      item.record = nullptr;
      item.was_read = true;
      item.was_cut = true;  // The key is not that of an index entry.
    }
    heads_.push_back(std::move(head));
    std::push_heap(heads_.begin(), heads_.end(), Later());
  }
  Head Pop() {
    std::pop_heap(heads_.begin(), heads_.end(), Later());
    Head head = std::move(heads_.back());
    heads_.pop_back();
    return head;
  }

  const Layout& layout_;
  std::vector<std::unique_ptr<Stream>> waiting_;
  std::vector<Head> heads_;
};

class RangeFilter final : public Stream {
 public:
  RangeFilter(std::unique_ptr<Stream> input, Range range)
      : input_(std::move(input)), range_(std::move(range)) {}

  Result<bool> Next(Item* item) override {
    while (true) {
      ASSIGN_OR_RETURN(const bool found, input_->Next(item));
      if (!found || range_.Contains(item->key.bytes)) return found;
    }
  }

 private:
  std::unique_ptr<Stream> input_;
  const Range range_;
};

class ListStream final : public Stream {
 public:
  explicit ListStream(std::vector<Item> items) : items_(std::move(items)) {}

  Result<bool> Next(Item* item) override {
    if (next_ == items_.size()) return false;
    *item = std::move(items_[next_++]);
    return true;
  }

 private:
  std::vector<Item> items_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Stream> NewMerge(std::vector<std::unique_ptr<Stream>> inputs,
                                 const Layout& layout) {
  if (inputs.size() == 1) return std::move(inputs[0]);
  return std::make_unique<Merge>(std::move(inputs), layout);
}

std::unique_ptr<Stream> NewRangeFilter(std::unique_ptr<Stream> input, Range range) {
  if (!range.lower && !range.upper) return input;
  return std::make_unique<RangeFilter>(std::move(input), std::move(range));
}

std::unique_ptr<Stream> NewListStream(std::vector<Item> items) {
  return std::make_unique<ListStream>(std::move(items));
}

}  // namespace hearth::execution
