#include "model/value.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/value_wire.h"

namespace hearth::model {
namespace {

using namespace std::string_literals;

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
    hex.push_back(kDigits[static_cast<uint8_t>(c) & 15]);
  }
  return hex;
}

// The expected bytes come from `protoc --encode=google.firestore.v1.Value`.
TEST(ValueTest, EncodesAsProtobufDoes) {
  EXPECT_EQ(Hex(EncodeNull()), "5800");
  EXPECT_EQ(Hex(EncodeBoolean(false)), "0800");
  EXPECT_EQ(Hex(EncodeBoolean(true)), "0801");
  EXPECT_EQ(Hex(EncodeInteger(0)), "1000");
  EXPECT_EQ(Hex(EncodeInteger(-1)), "10ffffffffffffffffff01");
  EXPECT_EQ(Hex(EncodeInteger(300)), "10ac02");
  EXPECT_EQ(Hex(EncodeDouble(1.5)), "19000000000000f83f");
  EXPECT_EQ(Hex(EncodeDouble(-std::nan("7"))), "19000000000000f87f");
  EXPECT_EQ(Hex(EncodeTimestamp(Timestamp())), "5200");
  EXPECT_EQ(Hex(EncodeTimestamp(Timestamp::FromMicros(-1))),
            "521108ffffffffffffffffff0110988cebdc03");
  EXPECT_EQ(Hex(EncodeString("")), "8a0100");
  EXPECT_EQ(Hex(EncodeString("hi")), "8a01026869");
  EXPECT_EQ(Hex(EncodeBytes("\xff")), "920101ff");
  EXPECT_EQ(Hex(EncodeReference("x")), "2a0178");
  EXPECT_EQ(Hex(EncodeGeoPoint({1, 0})), "420909000000000000f03f");
  EXPECT_EQ(Hex(EncodeGeoPoint({0, -0.0})), "4209110000000000000080");
  EXPECT_EQ(Hex(EncodeGeoPoint({0, 0})), "4200");
  EXPECT_EQ(Hex(EncodeArray({})), "4a00");
  EXPECT_EQ(Hex(EncodeArray({EncodeInteger(1), EncodeString("a")})), "4a0a0a0210010a048a010161");
  EXPECT_EQ(Hex(EncodeMap({})), "3200");
  EXPECT_EQ(Hex(EncodeMap({{"a", EncodeInteger(1)}})), "32090a070a016112021001");

  std::string fields;
  AppendField(MapView::Tag::kDocument, "a", EncodeInteger(1), &fields);
  AppendField(MapView::Tag::kDocument, "b", EncodeString("hi"), &fields);
  EXPECT_EQ(Hex(fields), "12070a016112021001120a0a016212058a01026869");
}

TEST(ValueTest, ReadsWhatWasEncoded) {
  EXPECT_EQ(ValueView(EncodeNull()).type(), ValueType::kNull);
  EXPECT_TRUE(ValueView(EncodeBoolean(true)).boolean());
  EXPECT_FALSE(ValueView(EncodeBoolean(false)).boolean());
  for (const int64_t number : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                               std::numeric_limits<int64_t>::max()}) {
    const std::string encoded = EncodeInteger(number);
    EXPECT_EQ(ValueView(encoded).integer(), number);
    EXPECT_EQ(ValueView(encoded).number(), static_cast<double>(number));
    EXPECT_TRUE(ValueView(encoded).IsNumber());
  }
  const std::string number = EncodeDouble(-0.0);
  EXPECT_TRUE(std::signbit(ValueView(number).number()));
  EXPECT_TRUE(ValueView(number).IsNumber());
  for (const int64_t micros :
       {-62'135'596'800'000'000, int64_t{-1}, int64_t{0}, int64_t{1}, 253'402'300'799'999'999}) {
    const std::string encoded = EncodeTimestamp(Timestamp::FromMicros(micros));
    EXPECT_EQ(ValueView(encoded).timestamp().micros(), micros);
  }
  const std::string text = EncodeString(std::string(1'000, 'x'));
  EXPECT_EQ(ValueView(text).text(), std::string(1'000, 'x'));
  EXPECT_FALSE(ValueView(text).IsNumber());
  EXPECT_EQ(ValueView(EncodeBytes("")).type(), ValueType::kBytes);
  EXPECT_EQ(ValueView(EncodeReference("x")).type(), ValueType::kReference);
  const std::string point = EncodeGeoPoint({-90, 0.25});
  EXPECT_EQ(ValueView(point).geo_point().latitude, -90);
  EXPECT_EQ(ValueView(point).geo_point().longitude, 0.25);
}

TEST(ValueTest, WalksArraysAndMaps) {
  const std::string array = EncodeArray({EncodeInteger(1), EncodeInteger(2)});
  int64_t sum = 0;
  for (ArrayView rest = ValueView(array).array(); const auto item = rest.Next();) {
    sum = sum * 10 + item->integer();
  }
  EXPECT_EQ(sum, 12);

  const std::string encoded = EncodeMap({{"a", EncodeInteger(1)}, {"c", EncodeInteger(3)}});
  MapView map = ValueView(encoded).map();
  EXPECT_EQ(map.Find("c")->integer(), 3);
  EXPECT_FALSE(map.Find("b").has_value());
  EXPECT_FALSE(map.Find("d").has_value());
  EXPECT_EQ(map.Next()->name, "a");
  EXPECT_FALSE(map.Find("a").has_value());  // Walked past.
  EXPECT_EQ(map.Next()->value.integer(), 3);
  EXPECT_FALSE(map.Next().has_value());
}

TEST(ValueTest, TellsVectorsFromMaps) {
  const std::string vector =
      EncodeMap({{"__type__", EncodeString("__vector__")},
                 {"value", EncodeArray({EncodeDouble(1), EncodeDouble(2)})}});
  ASSERT_EQ(ValueView(vector).type(), ValueType::kVector);
  ArrayView components = ValueView(vector).vector();
  EXPECT_EQ(components.Next()->number(), 1);
  EXPECT_EQ(components.Next()->number(), 2);
  EXPECT_FALSE(components.Next().has_value());
  EXPECT_EQ(ValueView(EncodeMap({{"value", EncodeNull()}})).type(), ValueType::kMap);
  EXPECT_EQ(ValueView(EncodeMap({})).type(), ValueType::kMap);
}

TEST(ValueWireTest, EntriesInAnyOrder) {
  EntryParts entry;
  const std::string plain = "\x0a\x01n\x12\x01v";
  ASSERT_TRUE(ReadEntry(plain, &entry));
  EXPECT_EQ(entry.name, "n");
  EXPECT_EQ(entry.value, "v");
  EXPECT_TRUE(entry.canonical);
  for (const std::string& odd :
       {"\x12\x01v\x0a\x01n"s, "\x0a\x01x\x0a\x01n\x12\x01v"s, "\x0a\x81\x00n\x12\x01v"s}) {
    EntryParts parts;
    ASSERT_TRUE(ReadEntry(odd, &parts));
    EXPECT_EQ(parts.name, "n");
    EXPECT_EQ(parts.value, "v");
    EXPECT_FALSE(parts.canonical);
  }
  for (const std::string& broken : {"\x0a\x02n"s, "\x1a\x01n"s, "\x08\x01"s, "\x0a"s, "\x80"s}) {
    EXPECT_FALSE(ReadEntry(broken, &entry)) << testing::PrintToString(broken);
  }
}

TEST(ValueWireTest, TimesAndPointsWithUnknownFieldsAreRefused) {
  TimestampParts time;
  EXPECT_FALSE(ReadTimestamp("\x18\x01"s, &time));
  EXPECT_FALSE(ReadTimestamp("\x08"s, &time));
  GeoPointParts point;
  EXPECT_FALSE(ReadGeoPoint("\x19"s + std::string(8, '\0'), &point));
  EXPECT_FALSE(ReadGeoPoint("\x09"s + std::string(7, '\0'), &point));
}

}  // namespace
}  // namespace hearth::model
