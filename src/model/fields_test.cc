#include "model/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/value_wire.h"

namespace hearth::model {
namespace {

using namespace std::string_literals;

constexpr char kUnset[] = "Cannot convert firestore.v1.Value with type unset.";
constexpr char kInvalidNested[] = "Property a contains an invalid nested entity.";

std::string Field(std::string_view name, std::string_view value) {
  std::string encoded;
  AppendField(MapView::Tag::kDocument, name, value, &encoded);
  return encoded;
}

// The result of validating a document with one field.
Status Verdict(std::string_view name, std::string_view value) {
  const std::string encoded = Field(name, value);
  const Result<Fields> fields = Fields::Validate(encoded);
  EXPECT_TRUE(!fields.ok() || fields->encoded() == encoded);  // The input was canonical.
  return fields.status();
}

Status Verdict(std::string_view value) { return Verdict("a", value); }

// `leaf` nested in `depth` maps.
std::string InMaps(size_t depth, std::string leaf) {
  for (; depth > 0; --depth) leaf = EncodeMap({{"m", leaf}});
  return leaf;
}

std::string Vector(const std::vector<std::string>& components) {
  return EncodeMap({{"__type__", EncodeString("__vector__")}, {"value", EncodeArray(components)}});
}

std::string TimestampOf(int64_t seconds, int64_t nanos) {
  std::string parts;
  AppendVarint(kSecondsTag, &parts);
  AppendVarint(static_cast<uint64_t>(seconds), &parts);
  AppendVarint(kNanosTag, &parts);
  AppendVarint(static_cast<uint64_t>(nanos), &parts);
  std::string encoded;
  AppendBytes(kTimestampTag, parts, &encoded);
  return encoded;
}

TEST(ValidateFieldsTest, KeepsDefaultsOfEveryType) {
  for (const std::string& value :
       {EncodeNull(), EncodeBoolean(false), EncodeInteger(0), EncodeDouble(0), EncodeDouble(-0.0),
        EncodeTimestamp(Timestamp()), EncodeString(""), EncodeBytes(""), EncodeGeoPoint({0, 0}),
        EncodeArray({}), EncodeMap({})}) {
    EXPECT_TRUE(Verdict(value).ok());
    EXPECT_TRUE(Verdict(EncodeMap({{"m", value}})).ok());
  }
  EXPECT_EQ(Fields::Validate("")->encoded(), "");
}

TEST(ValidateFieldsTest, ValuesNeedOneType) {
  EXPECT_EQ(Verdict(""), InvalidArgument(kUnset));
  EXPECT_EQ(Verdict(EncodeArray({""})), InvalidArgument(kUnset));
  EXPECT_EQ(Verdict(EncodeMap({{"m", ""}})), InvalidArgument(kUnset));
  // References and functions of pipelines, an unassigned field number, and a wrong wire type.
  for (const std::string& value :
       {"\x9a\x01\x01x"s, "\xa2\x01\x00"s, "\x20\x01"s, "\x0d\x01\x00\x00\x00"s}) {
    EXPECT_EQ(Verdict(value), InvalidArgument(kUnset));
  }
  EXPECT_EQ(Verdict(EncodeInteger(1) + EncodeInteger(1)),
            InvalidArgument("Cannot convert firestore.v1.Value with more than one type set."));
}

TEST(ValidateFieldsTest, RefusesMalformedBytes) {
  const Status malformed = InvalidArgument("The encoding of property \"a\" is malformed.");
  for (const std::string& value :
       {"\x08"s, "\x80"s, "\x19\x01"s, "\x8a\x01\x02x"s, "\x92\x01"s, "\x2a\x05"s,
        "\x52\x02\x18\x01"s, "\x52\x03"s, "\x42\x01\x09"s, "\x42\x03"s, "\x4a\x02\x10\x01"s,
        "\x4a\x02\x0a\x05"s, "\x4a\x09"s, "\x32\x02\x10\x01"s, "\x32\x02\x0a\x05"s, "\x32\x05"s,
        "\x32\x04\x0a\x02\x18\x01"s}) {
    EXPECT_EQ(Verdict(value), malformed) << testing::PrintToString(value);
  }
  const Status no_field = InvalidArgument("The encoding of property \"\" is malformed.");
  EXPECT_EQ(Fields::Validate("\x0a\x00"s).status(), no_field);  // Field number 1.
  EXPECT_EQ(Fields::Validate("\x12\x05"s).status(), no_field);
  EXPECT_EQ(Fields::Validate("\x12\x02\x18\x01"s).status(), no_field);
  EXPECT_EQ(Fields::Validate("\xff"s).status(), no_field);
}

TEST(ValidateFieldsTest, ChecksNamesOfFields) {
  const std::string one = EncodeInteger(1);
  for (const std::string& name : {"___"s, "__"s, "_"s, "a.b"s, "a`b"s, "1"s, "."s, "é"s, "a/b"s,
                                  "\0"s, std::string(1498, 'a')}) {
    EXPECT_TRUE(Verdict(name, one).ok());
    EXPECT_TRUE(Verdict(EncodeMap({{name, one}})).ok());
  }
  EXPECT_TRUE(Verdict(std::string(1500, 'a'), one).ok());
  EXPECT_EQ(Verdict("", one), InvalidArgument("The property.name is the empty string."));
  EXPECT_EQ(Verdict("__x__", one), InvalidArgument("field name __x__ is reserved"));
  EXPECT_EQ(Verdict("__type__", one), InvalidArgument("field name __type__ is reserved"));
  EXPECT_EQ(Verdict("____", one), InvalidArgument("field name ____ is reserved"));
  EXPECT_EQ(Verdict(std::string(1501, 'a'), one),
            InvalidArgument("The property.name is longer than 1500 bytes."));
  EXPECT_EQ(Verdict("\xff", one), InvalidArgument("A field name is not valid UTF-8."));

  EXPECT_EQ(Verdict(EncodeMap({{"__name__", one}})),
            InvalidArgument("field name '__name__' is reserved."));
  EXPECT_EQ(Verdict(EncodeArray({EncodeMap({{"____", one}})})),
            InvalidArgument("field name '____' is reserved."));
  EXPECT_EQ(Verdict(EncodeMap({{"", one}})), InvalidArgument(kInvalidNested));
  EXPECT_EQ(Verdict(EncodeArray({EncodeMap({{std::string(1501, 'a'), one}})})),
            InvalidArgument(kInvalidNested));
}

// The field is called "a", and each dot counts as one byte.
TEST(ValidateFieldsTest, LimitsPathsTo1500Bytes) {
  const std::string one = EncodeInteger(1);
  const auto map = [](size_t name_bytes, const std::string& value) {
    return EncodeMap({{std::string(name_bytes, 'x'), value}});
  };
  const Status refused = InvalidArgument(kInvalidNested);
  EXPECT_TRUE(Verdict(map(1'498, one)).ok());
  EXPECT_EQ(Verdict(map(1'499, one)), refused);
  EXPECT_TRUE(Verdict(map(1'496, map(1, one))).ok());
  EXPECT_EQ(Verdict(map(1'497, map(1, one))), refused);
  EXPECT_EQ(Verdict(map(1'000, map(1'000, one))), refused);
  EXPECT_TRUE(Verdict(map(1'498, EncodeMap({}))).ok());
  // Bytes count, not characters. Quotes that a request would need do not count.
  EXPECT_TRUE(Verdict(EncodeMap({{"é" + std::string(1'496, '-'), one}})).ok());
  EXPECT_EQ(Verdict(EncodeMap({{"é" + std::string(1'497, '-'), one}})), refused);
  // An array is part of the path to the fields of its maps, but adds no name.
  EXPECT_TRUE(Verdict(EncodeArray({map(1'498, one)})).ok());
  EXPECT_EQ(Verdict(EncodeArray({map(1'499, one)})), refused);
  EXPECT_EQ(Verdict(EncodeArray({one, map(1'000, EncodeArray({map(1'000, one)}))})), refused);
  // Each field is counted separately, and no path leads into a vector.
  EXPECT_TRUE(
      Verdict(EncodeMap({{std::string(1'000, 'x'), one}, {std::string(1'000, 'y'), one}})).ok());
  EXPECT_TRUE(Verdict(map(1'498, Vector({EncodeDouble(1)}))).ok());

  const std::string longest(1'500, 'n');
  EXPECT_TRUE(Verdict(longest, EncodeMap({})).ok());
  EXPECT_TRUE(Verdict(longest, EncodeArray({EncodeMap({})})).ok());
  EXPECT_TRUE(Verdict(longest, Vector({EncodeDouble(1)})).ok());
  EXPECT_EQ(Verdict(longest, map(1, one)),
            InvalidArgument("Property " + longest + " contains an invalid nested entity."));
}

TEST(ValidateFieldsTest, LimitsDepthTo20) {
  const std::string one = EncodeInteger(1);
  EXPECT_TRUE(Verdict(InMaps(20, one)).ok());
  EXPECT_EQ(Verdict(InMaps(21, one)), InvalidArgument(kInvalidNested));
  EXPECT_EQ(Verdict(InMaps(20, EncodeMap({}))), InvalidArgument(kInvalidNested));
  EXPECT_TRUE(Verdict(InMaps(19, EncodeArray({one}))).ok());
  EXPECT_EQ(Verdict(InMaps(20, EncodeArray({one}))), InvalidArgument(kInvalidNested));
  EXPECT_EQ(Verdict(InMaps(19, EncodeArray({EncodeMap({})}))), InvalidArgument(kInvalidNested));
  // Empty arrays and vectors count as plain values.
  EXPECT_TRUE(Verdict(InMaps(20, EncodeArray({}))).ok());
  EXPECT_TRUE(Verdict(InMaps(20, Vector({EncodeDouble(1)}))).ok());
  EXPECT_EQ(Verdict(InMaps(5'000, one)), InvalidArgument(kInvalidNested));
}

TEST(ValidateFieldsTest, RefusesArraysAndVectorsInArrays) {
  const Status refused = InvalidArgument("Cannot convert an array value in an array value.");
  EXPECT_EQ(Verdict(EncodeArray({EncodeArray({})})), refused);
  EXPECT_EQ(Verdict(EncodeArray({EncodeMap({{"m", EncodeArray({EncodeArray({})})}})})), refused);
  EXPECT_TRUE(Verdict(EncodeArray({EncodeMap({{"m", EncodeArray({})}})})).ok());
  EXPECT_EQ(Verdict(EncodeArray({Vector({EncodeDouble(1)})})),
            InvalidArgument("Cannot convert a vector value in an array value."));
}

TEST(ValidateFieldsTest, LimitsStringsAndBytes) {
  const std::string longest(1'048'487, 'x');
  const std::string longer(1'048'488, 'x');
  const Status refused =
      InvalidArgument("The value of property \"a\" is longer than 1048487 bytes.");
  EXPECT_TRUE(Verdict(EncodeString(longest)).ok());
  EXPECT_TRUE(Verdict(EncodeBytes(longest)).ok());
  EXPECT_EQ(Verdict(EncodeString(longer)), refused);
  EXPECT_EQ(Verdict(EncodeBytes(longer)), refused);
  EXPECT_EQ(Verdict(EncodeArray({EncodeString(longer)})), refused);
  EXPECT_EQ(Verdict(EncodeMap({{"m", EncodeString(longer)}})), InvalidArgument(kInvalidNested));
  EXPECT_EQ(Verdict(EncodeMap({{"m", EncodeArray({EncodeString(longer)})}})),
            InvalidArgument(kInvalidNested));
}

TEST(ValidateFieldsTest, StringsAreUtf8) {
  EXPECT_EQ(Verdict(EncodeString("\xff")),
            InvalidArgument("The value of property \"a\" is not valid UTF-8."));
  EXPECT_TRUE(Verdict(EncodeBytes("\xff")).ok());
}

TEST(ValidateFieldsTest, LimitsTimestamps) {
  EXPECT_TRUE(Verdict(TimestampOf(-62'135'596'800, 1'000)).ok());
  EXPECT_TRUE(Verdict(TimestampOf(253'402'300'799, 999'999'000)).ok());
  const Status seconds = InvalidArgument("Timestamp seconds exceeds limit for field.");
  EXPECT_EQ(Verdict(TimestampOf(-62'135'596'801, 1'000)), seconds);
  EXPECT_EQ(Verdict(TimestampOf(253'402'300'800, 1'000)), seconds);
  EXPECT_EQ(Verdict(TimestampOf(std::numeric_limits<int64_t>::min(), 1'000)), seconds);
  const Status nanos = InvalidArgument("Timestamp nanos exceeds limit for field.");
  EXPECT_EQ(Verdict(TimestampOf(1, -1)), nanos);
  EXPECT_EQ(Verdict(TimestampOf(1, 1'000'000'000)), nanos);
}

TEST(ValidateFieldsTest, LimitsGeoPoints) {
  EXPECT_TRUE(Verdict(EncodeGeoPoint({90, -180})).ok());
  EXPECT_TRUE(Verdict(EncodeGeoPoint({-0.0, -0.0})).ok());
  const auto latitude = [](const std::string& number) {
    return InvalidArgument("Geo point latitude '" + number +
                           "' outside permitted range -90.0 to 90.0.");
  };
  const auto longitude = [](const std::string& number) {
    return InvalidArgument("Geo point longitude '" + number +
                           "' outside permitted range -180.0 to 180.0.");
  };
  EXPECT_EQ(Verdict(EncodeGeoPoint({90.1, 0})), latitude("90.1"));
  EXPECT_EQ(Verdict(EncodeGeoPoint({-91, 181})), latitude("-91.0"));
  EXPECT_EQ(Verdict(EncodeGeoPoint({std::nan(""), 0})), latitude("NaN"));
  EXPECT_EQ(Verdict(EncodeGeoPoint({1e7, 0})), latitude("1.0E7"));
  EXPECT_EQ(Verdict(EncodeGeoPoint({-1.25e300, 0})), latitude("-1.25E300"));
  EXPECT_EQ(Verdict(EncodeGeoPoint({0, 180.1})), longitude("180.1"));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Verdict(EncodeGeoPoint({0, infinity})), longitude("Infinity"));
  EXPECT_EQ(Verdict(EncodeGeoPoint({0, -infinity})), longitude("-Infinity"));
}

TEST(ValidateFieldsTest, ChecksReferences) {
  EXPECT_TRUE(Verdict(EncodeReference("projects/p/databases/(default)/documents/c/d")).ok());
  EXPECT_EQ(Verdict(EncodeReference("foo")),
            InvalidArgument("Resource name \"foo\" lacks \"projects\" at index 0."));
  EXPECT_EQ(Verdict(EncodeReference("\xff")), InvalidArgument("Resource name is not valid UTF-8."));
}

TEST(ValidateFieldsTest, ChecksVectors) {
  const std::string type = EncodeString("__vector__");
  const std::string one = EncodeDouble(1);
  EXPECT_TRUE(Verdict(Vector({one, EncodeDouble(std::numeric_limits<double>::infinity())})).ok());
  EXPECT_TRUE(Verdict(Vector(std::vector<std::string>(2048, one))).ok());
  EXPECT_EQ(Verdict(Vector(std::vector<std::string>(2049, one))),
            InvalidArgument("Vectors must be at most 2048 dimensions."));
  EXPECT_EQ(Verdict(Vector({})), InvalidArgument("Cannot have a zero length vector."));
  for (const std::string& component : {EncodeInteger(1), EncodeNull(), ""s, one + one}) {
    EXPECT_EQ(Verdict(Vector({one, component})),
              InvalidArgument("Vector must only contain values of type 'double'"));
  }
  EXPECT_EQ(Verdict(Vector({EncodeDouble(std::nan(""))})),
            InvalidArgument("Vector cannot contain NaN values."));
  EXPECT_EQ(Verdict(EncodeMap({{"__type__", type}, {"value", EncodeArray({one})}, {"x", one}})),
            InvalidArgument("Vector Value map has extraneous entries."));
  EXPECT_EQ(Verdict(EncodeMap({{"__type__", type}})),
            InvalidArgument("Vector map is missing key 'value'."));
  EXPECT_EQ(Verdict(EncodeMap({{"__type__", type}, {"value", one}})),
            InvalidArgument("Vector Value type must be an array."));
  EXPECT_EQ(Verdict(EncodeMap({{"__type__", one}})),
            InvalidArgument("Field __type__ is not a string."));
  EXPECT_EQ(Verdict(EncodeMap({{"__type__", EncodeString("x")}})), InvalidArgument(kInvalidNested));
}

TEST(ValidateValueTest, ChecksOneValue) {
  EXPECT_EQ(*ValidateValue(EncodeInteger(1)), EncodeInteger(1));
  EXPECT_EQ(*ValidateValue(TimestampOf(1, 1'999)),
            EncodeTimestamp(Timestamp::FromMicros(1'000'001)));
  EXPECT_EQ(ValidateValue("").status(), InvalidArgument(kUnset));
  // A standalone value has no path.
  const std::string name(1'500, 'x');
  EXPECT_TRUE(ValidateValue(EncodeMap({{name, EncodeMap({{name, EncodeInteger(1)}})}})).ok());
}

}  // namespace
}  // namespace hearth::model
