#include "client/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/testing/test_seed.h"
#include "model/fields.h"

namespace hearth::client {
namespace {

const double kNan = std::nan("");

TEST(ValueTest, GettersAnswerOnlyForTheirType) {
  EXPECT_TRUE(Value().IsNull());
  EXPECT_TRUE(Value(nullptr).IsNull());
  EXPECT_EQ(Value(true).boolean(), true);
  EXPECT_EQ(Value(true).integer(), std::nullopt);
  EXPECT_EQ(Value(7u).integer(), 7);
  EXPECT_EQ(Value(7).number(), 7.0);
  EXPECT_EQ(Value(7.5f).number(), 7.5);
  EXPECT_EQ(Value(7.5).integer(), std::nullopt);
  EXPECT_EQ(*Value("text").text(), "text");
  EXPECT_EQ(Value("text").bytes(), nullptr);
  EXPECT_EQ(Value(Bytes{"b"}).bytes()->bytes, "b");
  EXPECT_EQ(Value(Reference{"r"}).reference()->name, "r");
  EXPECT_EQ(Value(Array{1, 2}).array()->size(), 2u);
  EXPECT_EQ(Value(Vector{{1.0}}).vector()->components.size(), 1u);
  EXPECT_EQ(Value(Map{{"a", 1}}).map()->at("a"), Value(1));
  EXPECT_EQ(Value(GeoPoint{1, 2}).geo_point()->longitude, 2);
  EXPECT_EQ(Value(Timestamp::FromMicros(5)).timestamp()->micros(), 5);
  EXPECT_EQ(Value(FieldValue::Delete()).field_value()->kind(), FieldValue::Kind::kDelete);
}

TEST(ValueTest, Equality) {
  EXPECT_EQ(Value(1), Value(1));
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value(1), Value(true));
  EXPECT_NE(Value("a"), Value(Bytes{"a"}));
  EXPECT_EQ(Value(kNan), Value(kNan));
  EXPECT_EQ(Value(Vector{{kNan, 1}}), Value(Vector{{kNan, 1}}));
  EXPECT_NE(Value(Vector{{1}}), Value(Vector{{1, 2}}));
  EXPECT_EQ(Value(GeoPoint{1, 2}), Value(GeoPoint{1, 2}));
  EXPECT_NE(Value(GeoPoint{1, 2}), Value(GeoPoint{1, 3}));
  EXPECT_EQ(Value(Map{{"a", Array{1, kNan}}}), Value(Map{{"a", Array{1, kNan}}}));
  EXPECT_EQ(Value(FieldValue::Increment(1)), Value(FieldValue::Increment(1)));
  EXPECT_NE(Value(FieldValue::Increment(1)), Value(FieldValue::Maximum(1)));
}

TEST(ValueTest, Text) {
  EXPECT_EQ(ToString(Map{{"a", Array{1, 2.0, "x\"y", nullptr}}, {"b", true}}),
            R"({"a": [1, 2.0, "x\"y", null], "b": true})");
  EXPECT_EQ(ToString(Map{}), "{}");
  EXPECT_EQ(ToString(Vector{{1, 2.5}}), "vector(1.0, 2.5)");
  EXPECT_EQ(ToString(Bytes{"a"}), "bytes(YQ)");
  EXPECT_EQ(ToString(Reference{"n"}), "ref(n)");
  EXPECT_EQ(ToString(GeoPoint{1, -2.5}), "geo(1.0, -2.5)");
  EXPECT_EQ(ToString(Timestamp()), "time(1970-01-01T00:00:00Z)");
  EXPECT_EQ(ToString(kNan), "NaN");
  EXPECT_EQ(ToString(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(ToString(FieldValue::Increment(2)), "FieldValue::Increment() of [2]");
}

TEST(ValueTest, FieldValuesHaveNoStoredForm) {
  EXPECT_EQ(Encode(FieldValue::ServerTimestamp()).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Encode(Array{Map{{"a", FieldValue::Delete()}}}).status().code(),
            Code::kInvalidArgument);
}

Value RandomValue(Dice& dice, int depth, bool in_array) {
  switch (dice.Below(depth == 0 ? 9 : 12)) {
    case 0:
      return nullptr;
    case 1:
      return dice.OneIn(2);
    case 2:
      return static_cast<int64_t>(dice.Below(1'000'000)) - 500'000;
    case 3:
      return dice.OneIn(5) ? kNan : static_cast<double>(dice.Below(1'000)) / 7;
    case 4:
      return Timestamp::FromMicros(static_cast<int64_t>(dice.Below(1'000'000'000)));
    case 5:
      return std::string(dice.Below(5), 'x');
    case 6:
      return Bytes{std::string(dice.Below(5), '\xff')};
    case 7:
      return Reference{"projects/p/databases/d/documents/c/" + std::to_string(dice.Below(10))};
    case 8:
      return GeoPoint{static_cast<double>(dice.Below(90)), static_cast<double>(dice.Below(180))};
    case 9: {
      if (in_array) return nullptr;  // Arrays hold neither arrays nor vectors.
      Array array;
      for (size_t i = dice.Below(4); i > 0; --i)
        array.push_back(RandomValue(dice, depth - 1, true));
      return array;
    }
    case 10:
      if (in_array) return nullptr;
      return Vector{std::vector<double>(1 + dice.Below(3), 1.5)};
    default: {
      Map map;
      for (size_t i = dice.Below(4); i > 0; --i) {
        map["k" + std::to_string(dice.Below(100))] = RandomValue(dice, depth - 1, false);
      }
      return map;
    }
  }
}

TEST(ValueTest, DecodesWhatItEncoded) {
  Dice dice(TestSeed());
  for (int i = 0; i < 2'000; ++i) {
    const Value value = RandomValue(dice, 4, false);
    const Result<std::string> encoded = Encode(value);
    ASSERT_TRUE(encoded.ok());
    EXPECT_EQ(Decode(model::ValueView(*encoded)), value);
    // The encoded value is already in stored form.
    const Result<std::string> stored = model::ValidateValue(*encoded);
    ASSERT_TRUE(stored.ok()) << ToString(value) << ": " << stored.status().ToString();
    EXPECT_EQ(*stored, *encoded) << ToString(value);
  }
}

}  // namespace
}  // namespace hearth::client
