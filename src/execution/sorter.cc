#include "execution/sorter.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace hearth::execution {
namespace {

// Larger than a small claim: sorts do not use the reserve.
constexpr size_t kClaimStepBytes = 256 * 1024;
static_assert(kClaimStepBytes > MemoryBudget::kSmallBytesMax);

// Orders of a heap: the last key on top, or the first one.
struct LastOnTop {
  const Layout& layout;
  bool operator()(const SortKey& left, const SortKey& right) const {
    return layout.Before(left.bytes, right.bytes);
  }
};
struct FirstOnTop {
  const Layout& layout;
  bool operator()(const SortKey& left, const SortKey& right) const {
    return layout.Before(right.bytes, left.bytes);
  }
};

class Sorter final : public Stream {
 public:
  Sorter(StreamFactory input, const Layout& layout, const SortLimits& limits)
      : input_(std::move(input)),
        layout_(layout),
        results_left_(limits.results_max),
        bytes_max_(limits.bytes_max),
        claim_(limits.memory) {}

  Result<bool> Next(Item* item) override {
    if (results_left_ == 0) return false;
    if (kept_.empty()) {
      if (is_complete_) return false;
      RETURN_IF_ERROR(Pass());
      if (kept_.empty()) return false;
    }
    std::pop_heap(kept_.begin(), kept_.end(), FirstOnTop{layout_});
    *item = {.key = std::move(kept_.back()), .record = nullptr, .was_cut = true, .was_read = true};
    kept_.pop_back();
    --results_left_;
    if (kept_.empty() && !is_complete_) last_ = item->key.bytes;
    return true;
  }

 private:
  static size_t BytesOf(const SortKey& key) { return key.bytes.size() + sizeof(SortKey); }

  // Whether that much may be kept. With little memory a sort takes more passes, but it always gets
  // a first step, so that it ends.
  bool Fits(size_t bytes) {
    if (bytes > bytes_max_) return false;
    if (bytes <= claim_.bytes()) return true;
    if (claim_.bytes() > 0) return claim_.Grow(kClaimStepBytes);
    claim_.GrowAnyway(kClaimStepBytes);
    return true;
  }

  // Keeps the first keys after the last one returned.
  Status Pass() {
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
      kept_.push_back(std::move(item.key));
      std::push_heap(kept_.begin(), kept_.end(), LastOnTop{layout_});
      while (kept_.size() > results_left_ || (!Fits(bytes) && kept_.size() > 1)) {
        std::pop_heap(kept_.begin(), kept_.end(), LastOnTop{layout_});
        bytes -= BytesOf(kept_.back());
        left_out = std::move(kept_.back().bytes);
        kept_.pop_back();
        is_complete_ = false;
      }
    }
    // Now with the first key on top. Sorting everything at once would take too long for one step.
    std::make_heap(kept_.begin(), kept_.end(), FirstOnTop{layout_});
    return Status();
  }

  const StreamFactory input_;
  const Layout& layout_;
  size_t results_left_;
  const size_t bytes_max_;
  std::vector<SortKey> kept_;  // A heap.
  MemoryClaim claim_;
  bool is_complete_ = false;         // The last pass left nothing out.
  std::optional<std::string> last_;  // Returned by an earlier pass.
};

}  // namespace

std::unique_ptr<Stream> NewSorter(StreamFactory input, const Layout& layout, SortLimits limits) {
  return std::make_unique<Sorter>(std::move(input), layout, limits);
}

}  // namespace hearth::execution
