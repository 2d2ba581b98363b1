#include "model/transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hearth::model {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kNan = EncodeDouble(std::nan(""));

FieldTransform Transform(TransformKind kind, const std::string& operand) {
  return {*FieldPath::Parse("n"), kind, operand};
}

std::string Apply(TransformKind kind, const std::optional<std::string>& current,
                  const std::string& operand) {
  const FieldTransform transform = Transform(kind, operand);
  EXPECT_TRUE(ValidateTransform(transform).ok());
  return ApplyTransform(transform, current, Timestamp());
}

std::string Increment(const std::optional<std::string>& current, const std::string& operand) {
  return Apply(TransformKind::kIncrement, current, operand);
}
std::string Maximum(const std::optional<std::string>& current, const std::string& operand) {
  return Apply(TransformKind::kMaximum, current, operand);
}
std::string Minimum(const std::optional<std::string>& current, const std::string& operand) {
  return Apply(TransformKind::kMinimum, current, operand);
}
std::string Union(const std::optional<std::string>& current, const std::string& operand) {
  return Apply(TransformKind::kArrayUnion, current, operand);
}
std::string Remove(const std::optional<std::string>& current, const std::string& operand) {
  return Apply(TransformKind::kArrayRemove, current, operand);
}
std::string Integers(const std::vector<int64_t>& numbers) {
  std::vector<std::string> items;
  for (const int64_t number : numbers) items.push_back(EncodeInteger(number));
  return EncodeArray(items);
}

TEST(TransformTest, ServerTimeIsTheCommitsInMilliseconds) {
  const FieldTransform transform = Transform(TransformKind::kServerTime, "");
  EXPECT_TRUE(ValidateTransform(transform).ok());
  EXPECT_EQ(ApplyTransform(transform, std::nullopt, Timestamp::FromMicros(1'234'567)),
            EncodeTimestamp(Timestamp::FromMicros(1'234'000)));
  EXPECT_EQ(ApplyTransform(transform, EncodeNull(), Timestamp::FromMicros(-1)),
            EncodeTimestamp(Timestamp::FromMicros(-1'000)));
}

TEST(TransformTest, IncrementAdds) {
  EXPECT_EQ(Increment(EncodeInteger(1), EncodeInteger(2)), EncodeInteger(3));
  EXPECT_EQ(Increment(EncodeInteger(1), EncodeDouble(1)), EncodeDouble(2));
  EXPECT_EQ(Increment(EncodeDouble(1.5), EncodeInteger(2)), EncodeDouble(3.5));
  EXPECT_EQ(Increment(EncodeInteger(kMax), EncodeInteger(1)), EncodeInteger(kMax));
  EXPECT_EQ(Increment(EncodeInteger(kMin), EncodeInteger(-1)), EncodeInteger(kMin));
  EXPECT_EQ(Increment(EncodeInteger(kMax), EncodeInteger(kMin)), EncodeInteger(-1));
  EXPECT_EQ(Increment(EncodeInteger(kMax), EncodeDouble(1)), EncodeDouble(9223372036854775808.0));
  EXPECT_EQ(Increment(kNan, EncodeInteger(1)), kNan);
  EXPECT_EQ(Increment(EncodeDouble(kInfinity), EncodeDouble(-kInfinity)), kNan);
  EXPECT_EQ(Increment(EncodeDouble(-0.0), EncodeInteger(0)), EncodeDouble(0.0));
  EXPECT_EQ(Increment(EncodeDouble(-0.0), EncodeDouble(-0.0)), EncodeDouble(-0.0));
}

TEST(TransformTest, NumbersReplaceWhatIsNoNumber) {
  const std::string operand = EncodeDouble(-0.0);
  for (const std::optional<std::string>& current :
       {std::optional<std::string>(), std::optional(EncodeNull()), std::optional(EncodeString("1")),
        std::optional(EncodeMap({}))}) {
    EXPECT_EQ(Increment(current, operand), operand);
    EXPECT_EQ(Maximum(current, operand), operand);
    EXPECT_EQ(Minimum(current, operand), operand);
  }
}

TEST(TransformTest, MaximumAndMinimumTakeTheTypeOfTheWinner) {
  EXPECT_EQ(Maximum(EncodeInteger(3), EncodeInteger(5)), EncodeInteger(5));
  EXPECT_EQ(Minimum(EncodeInteger(3), EncodeInteger(5)), EncodeInteger(3));
  EXPECT_EQ(Maximum(EncodeInteger(3), EncodeDouble(3.5)), EncodeDouble(3.5));
  EXPECT_EQ(Minimum(EncodeDouble(3.5), EncodeInteger(3)), EncodeInteger(3));
  const std::string integer = EncodeInteger(9007199254740993);
  const std::string rounded = EncodeDouble(9007199254740992.0);
  EXPECT_EQ(Maximum(integer, rounded), integer);
  EXPECT_EQ(Minimum(integer, rounded), rounded);
  EXPECT_EQ(Minimum(EncodeDouble(kInfinity), EncodeInteger(1)), EncodeInteger(1));
}

TEST(TransformTest, MaximumAndMinimumOfEqualNumbersChangeNothing) {
  const std::vector<std::string> zeros = {EncodeInteger(0), EncodeDouble(0.0), EncodeDouble(-0.0)};
  for (const std::string& current : zeros) {
    for (const std::string& operand : zeros) {
      EXPECT_EQ(Maximum(current, operand), current);
      EXPECT_EQ(Minimum(current, operand), current);
    }
  }
  EXPECT_EQ(Maximum(EncodeInteger(3), EncodeDouble(3)), EncodeInteger(3));
  EXPECT_EQ(Minimum(EncodeDouble(3), EncodeInteger(3)), EncodeDouble(3));
}

TEST(TransformTest, NanWinsMaximumAndMinimum) {
  for (const std::string& number : {EncodeInteger(1), EncodeDouble(-kInfinity), kNan}) {
    EXPECT_EQ(Maximum(number, kNan), kNan);
    EXPECT_EQ(Maximum(kNan, number), kNan);
    EXPECT_EQ(Minimum(number, kNan), kNan);
    EXPECT_EQ(Minimum(kNan, number), kNan);
  }
}

TEST(TransformTest, UnionAppendsWhatIsMissing) {
  EXPECT_EQ(Union(Integers({1, 2}), Integers({2, 3, 3})), Integers({1, 2, 3}));
  EXPECT_EQ(Union(Integers({1, 1, 2}), Integers({1})), Integers({1, 1, 2}));
  EXPECT_EQ(Union(std::nullopt, Integers({2, 1, 2})), Integers({2, 1}));
  EXPECT_EQ(Union(EncodeString("no array"), Integers({1})), Integers({1}));
  EXPECT_EQ(Union(EncodeNull(), EncodeArray({})), EncodeArray({}));
  EXPECT_EQ(Union(Integers({1}), EncodeArray({EncodeDouble(1)})), Integers({1}));
  EXPECT_EQ(Union(EncodeArray({kNan}), EncodeArray({kNan})), EncodeArray({kNan}));
  const std::string map = EncodeMap({{"a", EncodeInteger(1)}});
  const std::string same_map = EncodeMap({{"a", EncodeDouble(1)}});
  EXPECT_EQ(Union(EncodeArray({map}), EncodeArray({same_map})), EncodeArray({map}));
}

TEST(TransformTest, RemoveTakesAllThatAreEqual) {
  EXPECT_EQ(Remove(Integers({1, 2, 1, 3}), EncodeArray({EncodeDouble(1), EncodeInteger(3)})),
            Integers({2}));
  EXPECT_EQ(Remove(Integers({1}), EncodeArray({})), Integers({1}));
  EXPECT_EQ(Remove(std::nullopt, Integers({1})), EncodeArray({}));
  EXPECT_EQ(Remove(EncodeInteger(1), Integers({1})), EncodeArray({}));
}

TEST(TransformTest, ResultsOfArrayTransformsAreNull) {
  const std::string value = Integers({1});
  for (const TransformKind kind : {TransformKind::kArrayUnion, TransformKind::kArrayRemove}) {
    EXPECT_EQ(TransformResult(Transform(kind, value), value), EncodeNull());
  }
  for (const TransformKind kind : {TransformKind::kServerTime, TransformKind::kIncrement,
                                   TransformKind::kMaximum, TransformKind::kMinimum}) {
    EXPECT_EQ(TransformResult(Transform(kind, ""), value), value);
  }
}

TEST(TransformTest, OperandsMustFit) {
  const auto refusal = [](TransformKind kind, const std::string& operand) {
    return ValidateTransform(Transform(kind, operand));
  };
  for (const TransformKind kind :
       {TransformKind::kIncrement, TransformKind::kMaximum, TransformKind::kMinimum}) {
    for (const std::string& operand : {EncodeString("1"), EncodeNull(), EncodeArray({})}) {
      EXPECT_EQ(refusal(kind, operand), InvalidArgument("Input must be int64 or double."));
    }
    EXPECT_EQ(refusal(kind, ""),
              InvalidArgument("Cannot convert firestore.v1.Value with type unset."));
  }
  for (const TransformKind kind : {TransformKind::kArrayUnion, TransformKind::kArrayRemove}) {
    EXPECT_EQ(refusal(kind, EncodeInteger(1)), InvalidArgument("Input must be an array."));
    EXPECT_EQ(refusal(kind, EncodeArray({EncodeArray({})})),
              InvalidArgument("Cannot convert an array value in an array value."));
  }
  EXPECT_EQ(refusal(TransformKind::kServerTime, EncodeInteger(1)),
            InvalidArgument("A server time takes no operand."));
}

}  // namespace
}  // namespace hearth::model
