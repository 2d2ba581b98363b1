#include "watch/bloom_filter.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace hearth::watch {
namespace {

struct Hashes {
  uint64_t first;
  uint64_t second;
};

uint64_t LittleEndian64(const unsigned char* bytes) {
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | bytes[i];
  return number;
}

Hashes HashName(std::string_view name) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  CHECK(EVP_Digest(name.data(), name.size(), digest.data(), &size, EVP_md5(), nullptr) == 1);
  CHECK(size == 16);
  return {LittleEndian64(digest.data()), LittleEndian64(digest.data() + 8)};
}

}  // namespace

BloomFilter::BloomFilter(size_t names) {
  if (names == 0) return;
  // The textbook optimum for this rate: 9.6 bits and 7 hashes per name.
  constexpr double kFalsePositives = 0.01;
  const double ln2 = std::log(2.0);
  const double bits =
      std::ceil(-static_cast<double>(names) * std::log(kFalsePositives) / ln2 / ln2);
  bits_.bitmap.resize(static_cast<size_t>(bits) / 8 + 1);
  bits_.hash_count =
      std::max(1, static_cast<int>(std::lround(bits / static_cast<double>(names) * ln2)));
}

template <typename Visit>
void BloomFilter::VisitBits(std::string_view name, const Visit& visit) const {
  const Hashes hashes = HashName(name);
  const uint64_t bits = bits_.bitmap.size() * 8;
  for (uint64_t i = 0; i < static_cast<uint64_t>(bits_.hash_count); ++i) {
    visit((hashes.first + i * hashes.second) % bits);
  }
}

void BloomFilter::Add(std::string_view name) {
  CHECK(!bits_.bitmap.empty());
  VisitBits(name, [this](uint64_t bit) {
    bits_.bitmap[bit / 8] = static_cast<char>(bits_.bitmap[bit / 8] | 1 << bit % 8);
  });
}

bool BloomFilter::MayContain(std::string_view name) const {
  if (bits_.bitmap.empty()) return false;
  bool all = true;
  VisitBits(name, [&](uint64_t bit) { all = all && (bits_.bitmap[bit / 8] >> bit % 8 & 1) != 0; });
  return all;
}

}  // namespace hearth::watch
