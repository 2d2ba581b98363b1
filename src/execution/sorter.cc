#include "execution/sorter.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace hearth::execution {
namespace {

class Sorter final : public Stream {
 public:
  Sorter(StreamFactory input, const Layout& layout, size_t results_max, size_t bytes_max)
      : input_(std::move(input)),
        layout_(layout),
        results_left_(results_max),
        bytes_max_(bytes_max) {}

  Result<bool> Next(Item* item) override {
    if (results_left_ == 0) return false;
    if (next_ == sorted_.size()) {
      if (is_complete_) return false;
      RETURN_IF_ERROR(Pass());
      if (sorted_.empty()) return false;
    }
    *item = {
        .key = std::move(sorted_[next_++]), .record = nullptr, .was_cut = true, .was_read = true};
    --results_left_;
    if (next_ == sorted_.size() && !is_complete_) last_ = item->key.bytes;
    return true;
  }

 private:
  static size_t BytesOf(const SortKey& key) { return key.bytes.size() + sizeof(SortKey); }

  // Keeps the first keys after the last one returned.
  Status Pass() {
    const auto before = [this](const SortKey& left, const SortKey& right) {
      return layout_.Before(left.bytes, right.bytes);
    };
    sorted_.clear();
    next_ = 0;
    is_complete_ = true;
    size_t bytes = 0;
    // The first key that this pass has left out. Later keys must wait for a later pass too, even if
    // there is room again.
    std::optional<std::string> left_out;
    const std::unique_ptr<Stream> input = input_(last_ ? Pass::kAnother : Pass::kFirst);
    Item item;
    while (true) {
      ASSIGN_OR_RETURN(const bool found, input->Next(&item));
      if (!found) break;
      if (last_ && !layout_.Before(*last_, item.key.bytes)) continue;
      if (left_out && !layout_.Before(item.key.bytes, *left_out)) continue;
      // A heap with the last key on top.
      bytes += BytesOf(item.key);
      sorted_.push_back(std::move(item.key));
      std::push_heap(sorted_.begin(), sorted_.end(), before);
      while (sorted_.size() > results_left_ || (bytes > bytes_max_ && sorted_.size() > 1)) {
        std::pop_heap(sorted_.begin(), sorted_.end(), before);
        bytes -= BytesOf(sorted_.back());
        left_out = std::move(sorted_.back().bytes);
        sorted_.pop_back();
        is_complete_ = false;
      }
    }
    std::sort_heap(sorted_.begin(), sorted_.end(), before);
    return Status();
  }

  const StreamFactory input_;
  const Layout& layout_;
  size_t results_left_;
  const size_t bytes_max_;
  std::vector<SortKey> sorted_;
  size_t next_ = 0;
  bool is_complete_ = false;         // The last pass left nothing out.
  std::optional<std::string> last_;  // Returned by an earlier pass.
};

}  // namespace

std::unique_ptr<Stream> NewSorter(StreamFactory input, const Layout& layout, size_t results_max,
                                  size_t bytes_max) {
  return std::make_unique<Sorter>(std::move(input), layout, results_max, bytes_max);
}

}  // namespace hearth::execution
