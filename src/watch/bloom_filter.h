#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::watch {

// A set of names that may take a few others for its own: google.firestore.v1.BloomFilter, which
// describes the hashes.
//
// Threads: one at a time.
class BloomFilter {
 public:
  // For so many names, of which about one in a hundred others passes for one.
  explicit BloomFilter(size_t names);

  void Add(std::string_view name);
  bool MayContain(std::string_view name) const;

  // Bit `i` is bit `i % 8`, counted from the least significant, of byte `i / 8`.
  const std::string& bitmap() const { return bitmap_; }
  int padding() const { return 0; }  // All bits of the last byte are in use.
  int hash_count() const { return hash_count_; }

 private:
  template <typename Visit>
  void VisitBits(std::string_view name, const Visit& visit) const;

  std::string bitmap_;
  int hash_count_ = 0;
};

}  // namespace hearth::watch
