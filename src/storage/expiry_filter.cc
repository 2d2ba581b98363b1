#include "storage/expiry_filter.h"

#include <string>

#include "storage/stamped_key.h"

namespace hearth::storage {
namespace {

class ExpiryFilter final : public rocksdb::CompactionFilter {
 public:
  explicit ExpiryFilter(uint64_t horizon) : horizon_(horizon) {}

  bool Filter(int /*level*/, const rocksdb::Slice& key, const rocksdb::Slice& /*value*/,
              std::string* /*new_value*/, bool* /*value_changed*/) const override {
    return IsExpired({key.data(), key.size()}, horizon_);
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
