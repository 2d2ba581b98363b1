#include "index/value_key.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/testing/test_seed.h"
#include "model/value_order.h"

namespace hearth::index {
namespace {

using namespace std::string_literals;
using model::ValueView;

std::string Key(const std::string& value) {
  std::string key;
  AppendValueKey(ValueView(value), &key);
  return key;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Values of all types, including neighbours that are easily confused.
std::vector<std::string> InterestingValues() {
  std::vector<std::string> values = {model::EncodeNull(), model::EncodeBoolean(false),
                                     model::EncodeBoolean(true), model::EncodeDouble(std::nan(""))};
  for (const double number :
       {-kInfinity, kInfinity, 0.0, -0.0, 1.0, 1.5, -1.5, 5e-324, 1e308, 9007199254740992.0,
        9007199254740994.0, -9007199254740992.0, 9223372036854775808.0, -9223372036854775808.0,
        9223372036854774784.0, 1e300, -1e300}) {
    values.push_back(model::EncodeDouble(number));
  }
  for (const int64_t number :
       {kMin, kMin + 1, kMin + 1023, kMin + 1024, int64_t{-9007199254740993}, int64_t{-1},
        int64_t{0}, int64_t{1}, int64_t{2}, int64_t{9007199254740991}, int64_t{9007199254740992},
        int64_t{9007199254740993}, kMax - 1024, kMax - 1023, kMax - 1, kMax}) {
    values.push_back(model::EncodeInteger(number));
  }
  for (const int64_t micros : {int64_t{-62135596800000000}, int64_t{-1}, int64_t{0}, int64_t{1}}) {
    values.push_back(model::EncodeTimestamp(model::Timestamp::FromMicros(micros)));
  }
  for (const std::string& text : {""s, "\0"s, "\0\0"s, "\0a"s, "a"s, "a\0"s, "a\0b"s, "a\x01"s,
                                  "ab"s, "b"s, "é"s, "\xf0\x9f\x98\x80"s, "\xef\xbf\xbf"s}) {
    values.push_back(model::EncodeString(text));
    values.push_back(model::EncodeBytes(text));
    values.push_back(model::EncodeArray({model::EncodeString(text)}));
    values.push_back(model::EncodeArray({model::EncodeString(text), model::EncodeNull()}));
    values.push_back(model::EncodeMap({{"a" + text, model::EncodeString(text)}}));
    values.push_back(model::EncodeMap({{"a" + text, model::EncodeNull()}}));
  }
  for (const char* path : {"a/b", "a/b/c/d", "a/bc", "a/__id7__", "a/__id-7__", "b/a", "a/b/c/a"}) {
    values.push_back(model::EncodeReference("projects/p/databases/d/documents/"s + path));
    values.push_back(model::EncodeReference("projects/pp/databases/(default)/documents/"s + path));
  }
  for (const double latitude : {-90.0, -0.0, 0.0, 90.0}) {
    for (const double longitude : {-180.0, 0.0, 180.0}) {
      values.push_back(model::EncodeGeoPoint({latitude, longitude}));
    }
  }
  values.push_back(model::EncodeArray({}));
  values.push_back(model::EncodeArray({model::EncodeInteger(1)}));
  values.push_back(model::EncodeArray({model::EncodeDouble(1)}));
  values.push_back(model::EncodeArray({model::EncodeInteger(1), model::EncodeInteger(2)}));
  values.push_back(model::EncodeMap({}));
  values.push_back(model::EncodeMap({{"a", model::EncodeInteger(1)}}));
  values.push_back(model::EncodeMap({{"a", model::EncodeInteger(1)}, {"b", model::EncodeMap({})}}));
  values.push_back(model::EncodeMap({{"b", model::EncodeInteger(0)}}));
  for (const auto& components :
       std::vector<std::vector<double>>{{0}, {1}, {-1}, {2}, {0, 0}, {1, 2}, {1, 3}, {0, 0, 0}}) {
    values.push_back(model::EncodeVector(components));
  }
  return values;
}

TEST(ValueKeyTest, SortsAsValuesDo) {
  const std::vector<std::string> values = InterestingValues();
  for (const std::string& left : values) {
    for (const std::string& right : values) {
      const auto expected = model::CompareValues(ValueView(left), ValueView(right));
      const std::string left_key = Key(left);
      const std::string right_key = Key(right);
      EXPECT_EQ(left_key.compare(right_key) < 0, expected < 0);
      EXPECT_EQ(left_key == right_key, expected == 0);
      EXPECT_FALSE(left_key != right_key && right_key.starts_with(left_key));
    }
  }
}

TEST(ValueKeyTest, RandomNumbersSortExactly) {
  Dice dice(TestSeed());
  const auto number = [&dice] {
    const auto bits = static_cast<int64_t>(dice.Below(std::numeric_limits<size_t>::max()));
    switch (dice.Below(4)) {
      case 0:
        return model::EncodeInteger(bits);
      case 1:
        return model::EncodeDouble(static_cast<double>(bits));
      case 2:
        return model::EncodeInteger(bits >> dice.Below(64));
      default:
        return model::EncodeDouble(std::nextafter(static_cast<double>(bits >> dice.Below(64)), 0));
    }
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string left = number();
    const std::string right = dice.Below(4) == 0 ? left : number();
    const auto expected = model::CompareValues(ValueView(left), ValueView(right));
    EXPECT_EQ(Key(left).compare(Key(right)) < 0, expected < 0);
    EXPECT_EQ(Key(left) == Key(right), expected == 0);
  }
}

TEST(ValueKeyTest, LengthsOfComponentsInBothDirections) {
  for (const std::string& value : InterestingValues()) {
    std::string key = Key(value);
    const size_t length = key.size();
    for (const std::string& more : {""s, "\0\1"s, "rest"s, "\xff\xfe"s}) {
      EXPECT_EQ(ComponentLength(key + more, ByteOrder::kAscending), length);
    }
    Complement(0, &key);
    EXPECT_EQ(ComponentLength(key + "rest", ByteOrder::kDescending), length);
    EXPECT_EQ(ComponentLength(std::string_view(key).substr(0, length - 1), ByteOrder::kDescending),
              std::nullopt);
  }
  const std::string cut = Key(model::EncodeString(std::string(3000, 'a'))).substr(0, 1500);
  EXPECT_EQ(ComponentLength(cut + "rest", ByteOrder::kAscending), kComponentBytesMax);
}

TEST(ValueKeyTest, NumbersComeBack) {
  for (const std::string& value : InterestingValues()) {
    const ValueView view(value);
    const std::optional<NumberKey> decoded = DecodeNumberKey(Key(value));
    ASSERT_EQ(decoded.has_value(), view.IsNumber());
    if (!decoded) continue;
    if (view.type() == model::ValueType::kInteger) {
      EXPECT_EQ(decoded->integer, view.integer());
    } else if (std::isnan(view.number())) {
      EXPECT_TRUE(std::isnan(decoded->number));
    } else {
      EXPECT_EQ(decoded->number, view.number());
    }
  }
}

TEST(ValueKeyTest, TypesAreRanges) {
  const std::string nan = Key(model::EncodeDouble(std::nan("")));
  EXPECT_TRUE(nan.starts_with(TypeKey(ValueView(model::EncodeInteger(3)))));
  EXPECT_LT(nan, LeastNumberKey());
  EXPECT_LE(LeastNumberKey(), Key(model::EncodeDouble(-kInfinity)));
  for (const std::string& value : InterestingValues()) {
    EXPECT_TRUE(Key(value).starts_with(TypeKey(ValueView(value))));
  }
}

}  // namespace
}  // namespace hearth::index
