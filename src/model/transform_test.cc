// Covers operands that no request can contain, and the exact time. test/cases/transform covers the
// rest.
#include "model/transform.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hearth::model {
namespace {

FieldTransform Transform(TransformKind kind, const std::string& operand) {
  return {*FieldPath::Parse("n"), kind, operand};
}

TEST(TransformTest, ServerTimeIsTheCommitsInMilliseconds) {
  const FieldTransform transform = Transform(TransformKind::kServerTime, "");
  EXPECT_TRUE(ValidateTransform(transform).ok());
  EXPECT_EQ(ApplyTransform(transform, std::nullopt, Timestamp::FromMicros(1'234'567)),
            EncodeTimestamp(Timestamp::FromMicros(1'234'000)));
  EXPECT_EQ(ApplyTransform(transform, EncodeNull(), Timestamp::FromMicros(-1)),
            EncodeTimestamp(Timestamp::FromMicros(-1'000)));
}

TEST(TransformTest, OperandsMustFit) {
  for (const TransformKind kind : {TransformKind::kArrayUnion, TransformKind::kArrayRemove}) {
    EXPECT_EQ(ValidateTransform(Transform(kind, EncodeInteger(1))),
              InvalidArgument("Input must be an array."));
  }
  EXPECT_EQ(ValidateTransform(Transform(TransformKind::kServerTime, EncodeInteger(1))),
            InvalidArgument("A server time takes no operand."));
}

// Short arrays are searched from the beginning, long ones are sorted before.
TEST(TransformTest, LongArraysAreHandledLikeShortOnes) {
  const auto array = [](int64_t begin, int64_t end) {
    std::vector<std::string> items;
    for (int64_t i = begin; i < end; ++i) items.push_back(EncodeInteger(i));
    return items;
  };
  for (const int64_t size : {5, 5'000}) {
    // Equal numbers are the same element, whatever their type. Stored repetitions stay.
    std::vector<std::string> stored = array(0, size);
    stored.push_back(EncodeInteger(0));
    std::vector<std::string> more = array(size - 2, size + 2);
    more.push_back(EncodeDouble(static_cast<double>(size)));
    for (int64_t i = 0; i < size; ++i) more.push_back(EncodeDouble(0));
    std::vector<std::string> all = stored;
    all.push_back(EncodeInteger(size));
    all.push_back(EncodeInteger(size + 1));
    EXPECT_EQ(ApplyTransform(Transform(TransformKind::kArrayUnion, EncodeArray(more)),
                             EncodeArray(stored), Timestamp()),
              EncodeArray(all));
    EXPECT_EQ(ApplyTransform(Transform(TransformKind::kArrayRemove, EncodeArray(more)),
                             EncodeArray(stored), Timestamp()),
              EncodeArray(array(1, size - 2)));
  }
}

// In time that two nested loops over the elements would not fit into.
TEST(TransformTest, TheLargestArraysTakeNoQuadraticTime) {
  std::vector<std::string> stored;
  std::vector<std::string> others;
  for (int64_t i = 0; i < 200'000; ++i) {
    stored.push_back(EncodeInteger(i));
    others.push_back(EncodeInteger(-1 - i));
  }
  const std::string result = ApplyTransform(
      Transform(TransformKind::kArrayUnion, EncodeArray(others)), EncodeArray(stored), Timestamp());
  EXPECT_EQ(result.size() > 1'000'000, true);
}

}  // namespace
}  // namespace hearth::model
