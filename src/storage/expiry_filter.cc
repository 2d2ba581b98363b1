#include "storage/expiry_filter.h"

#include <string>

namespace hearth::storage {
namespace {

constexpr size_t kStampBytes = 8;

class ExpiryFilter final : public rocksdb::CompactionFilter {
 public:
  explicit ExpiryFilter(uint64_t horizon) : horizon_(horizon) {}

  bool Filter(int /*level*/, const rocksdb::Slice& key, const rocksdb::Slice& /*value*/,
              std::string* /*new_value*/, bool* /*value_changed*/) const override {
    if (key.size() < kStampBytes) return false;
    uint64_t stamp = 0;
    for (size_t i = key.size() - kStampBytes; i < key.size(); ++i) {
      stamp = stamp << 8 | static_cast<unsigned char>(key[i]);
    }
    return stamp < horizon_;
  }
  const char* Name() const override { return "hearth.expiry"; }

 private:
  const uint64_t horizon_;
};

}  // namespace

void ExpiryFilterFactory::Raise(uint64_t stamp) {
  uint64_t seen = horizon_.load();
  while (seen < stamp && !horizon_.compare_exchange_weak(seen, stamp)) {
  }
}

std::unique_ptr<rocksdb::CompactionFilter> ExpiryFilterFactory::CreateCompactionFilter(
    const rocksdb::CompactionFilter::Context& /*context*/) {
  return std::make_unique<ExpiryFilter>(horizon_.load());
}

}  // namespace hearth::storage
