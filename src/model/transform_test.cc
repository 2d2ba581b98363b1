// Covers operands that no request can contain, and the exact time. test/cases/transform covers the
// rest.
#include "model/transform.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hearth::model
