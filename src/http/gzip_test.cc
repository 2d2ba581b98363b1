#include "http/gzip.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::http {
namespace {

constexpr size_t kPlentyBytes = 1 << 20;

TEST(GzipTest, ComesBack) {
  for (const size_t size : {0u, 1u, 65'535u, 65'536u, 65'537u, 300'000u}) {
    std::string plain(size, '\0');
    for (size_t i = 0; i < size; ++i) plain[i] = static_cast<char>(i * i % 251);
    const Result<std::string> back = Gunzip(Gzip(plain), kPlentyBytes);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(*back, plain);
  }
}

TEST(GzipTest, BothSidesOfTheLimit) {
  const std::string compressed = Gzip(std::string(100'000, 'a'));
  EXPECT_TRUE(Gunzip(compressed, 100'000).ok());
  EXPECT_EQ(Gunzip(compressed, 99'999).status().code(), Code::kResourceExhausted);
}

TEST(GzipTest, RefusesABombEarly) {
  const std::string bomb = Gzip(std::string(64 << 20, '\0'));
  ASSERT_LT(bomb.size(), 100'000u);
  EXPECT_EQ(Gunzip(bomb, 1'000).status().code(), Code::kResourceExhausted);
}

TEST(GzipTest, RefusesWhatIsNotGzip) {
  const std::string good = Gzip("hello, hello, hello");
  EXPECT_EQ(Gunzip("", kPlentyBytes).status().code(), Code::kInternal);
  EXPECT_EQ(Gunzip("plain text", kPlentyBytes).status().code(), Code::kInternal);
  EXPECT_EQ(Gunzip(good.substr(0, good.size() - 1), kPlentyBytes).status().code(), Code::kInternal);
  EXPECT_EQ(Gunzip(good + "x", kPlentyBytes).status().code(), Code::kInternal);
  std::string damaged = good;
  damaged[damaged.size() - 5] ^= 1;  // In the checksum.
  EXPECT_EQ(Gunzip(damaged, kPlentyBytes).status().code(), Code::kInternal);
}

TEST(GzipTest, TheOutputIsTakenFromTheMemory) {
  const std::string bomb = Gzip(std::string(5'000'000, 'x'));
  MemoryBudget memory(8'000'000);
  MemoryClaim claim(&memory);
  ASSERT_TRUE(Gunzip(bomb, 5'000'000, &claim).ok());
  EXPECT_GE(memory.used_bytes(), 5'000'000u);
  MemoryClaim second(&memory);
  EXPECT_EQ(Gunzip(bomb, 5'000'000, &second).status().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace hearth::http
