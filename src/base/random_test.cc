#include "base/random.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <sstream>

namespace hearth {
namespace {

// Recovers x from x ^ (x >> shift & mask) or x ^ (x << shift & mask). Each round recovers `shift`
// more bits.
uint64_t UndoRight(uint64_t mixed, int shift, uint64_t mask) {
  uint64_t x = mixed;
  for (int known = shift; known < 64; known += shift) x = mixed ^ (x >> shift & mask);
  return x;
}
uint64_t UndoLeft(uint64_t mixed, int shift, uint64_t mask) {
  uint64_t x = mixed;
  for (int known = shift; known < 64; known += shift) x = mixed ^ (x << shift & mask);
  return x;
}

// The word of std::mt19937_64's state that produced this number.
uint64_t StateWord(uint64_t number) {
  uint64_t x = UndoRight(number, 43, ~uint64_t{0});
  x = UndoLeft(x, 37, 0xFFF7EEE000000000);
  x = UndoLeft(x, 17, 0x71D67FFFEDA60000);
  return UndoRight(x, 29, 0x5555555555555555);
}

// The next number of a Mersenne Twister that produced all the numbers so far.
uint64_t PredictNext(RandomSource& random) {
  std::stringstream state;
  for (size_t i = 0; i < std::mt19937_64::state_size; ++i) state << StateWord(random.Next()) << ' ';
  state << std::mt19937_64::state_size;
  std::mt19937_64 twister;
  state >> twister;
  return twister();
}

TEST(RandomSourceTest, NumbersDoNotTellTheNextOne) {
  RandomSource seeded(1);
  const uint64_t of_seeded = PredictNext(seeded);
  EXPECT_EQ(of_seeded, seeded.Next());  // The attack works.
  RandomSource random;
  const uint64_t prediction = PredictNext(random);
  EXPECT_NE(prediction, random.Next());
}

TEST(RandomSourceTest, ASeedRepeatsThem) {
  RandomSource first(7);
  RandomSource second(7);
  RandomSource other(8);
  const uint64_t number = first.Next();
  EXPECT_EQ(number, second.Next());
  EXPECT_NE(number, other.Next());
}

TEST(RandomSourceTest, NoNumberComesTwice) {
  RandomSource first;
  RandomSource second;
  std::set<uint64_t> numbers;
  for (int i = 0; i < 1'000; ++i) {
    numbers.insert(first.Next());
    numbers.insert(second.Next());
  }
  EXPECT_EQ(numbers.size(), 2'000u);
}

TEST(SecureRandomBytesTest, GivesAsManyAsAreWanted) {
  EXPECT_EQ(SecureRandomBytes(0), "");
  EXPECT_EQ(SecureRandomBytes(1'000).size(), 1'000u);
  EXPECT_NE(SecureRandomBytes(16), SecureRandomBytes(16));
}

}  // namespace
}  // namespace hearth
