#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "request/listen.h"

namespace hearth::watch {

// A set of names with false positives: google.firestore.v1.BloomFilter, which describes the hashes.
//
// Threads: one at a time.
class BloomFilter {
 public:
  // Sized for `names` names at a false positive rate of about one in a hundred.
  explicit BloomFilter(size_t names);
  explicit BloomFilter(request::BloomFilterBits bits) : bits_(std::move(bits)) {}

  void Add(std::string_view name);
  bool MayContain(std::string_view name) const;

  const request::BloomFilterBits& bits() const { return bits_; }

 private:
  template <typename Visit>
  void VisitBits(std::string_view name, const Visit& visit) const;

  request::BloomFilterBits bits_;  // All bits of the last byte are in use.
};

}  // namespace hearth::watch
