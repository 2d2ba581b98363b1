#include "base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <utility>

#include "base/check.h"

namespace hearth {
namespace {

void Fill(char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = getrandom(bytes, size, 0);
    CHECK(got > 0 || errno == EINTR);  // In Linux since 3.17.
    if (got <= 0) continue;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
}

}  // namespace

std::string SecureRandomBytes(size_t size) {
  std::string bytes(size, '\0');
  Fill(bytes.data(), size);
  return bytes;
}

RandomSource::RandomSource() = default;
RandomSource::RandomSource(uint64_t seed) : seeded_(std::make_unique<std::mt19937_64>(seed)) {}
RandomSource::~RandomSource() = default;

uint64_t RandomSource::Next() {
  MutexLock lock(mutex_);
  if (seeded_) return (*seeded_)();
  if (used_ == numbers_.size()) {
    Fill(reinterpret_cast<char*>(numbers_.data()), sizeof(numbers_));
    used_ = 0;
  }
  // Clears the number that is handed out: it may have become a secret.
  return std::exchange(numbers_[used_++], 0);
}

}  // namespace hearth
