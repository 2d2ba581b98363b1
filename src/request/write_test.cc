#include "request/write.h"

#include <gtest/gtest.h>

#include <string>

#include "request/testing/writes.h"

namespace hearth::request {
namespace {

TEST(WriteTest, EverythingThatAWriteHoldsIsCounted) {
  const size_t plain = ApproximateBytes({Set("c/a", {})});
  EXPECT_GE(ApproximateBytes(
                {Set("c/a", MakeFields({{"f", model::EncodeString(std::string(1'000, 'x'))}}))}),
            plain + 1'000);

  Write masked = Merge("c/a", {}, {});
  for (int i = 0; i < 1'000; ++i) masked.mask->push_back(FieldAt("a.b" + std::to_string(i)));
  EXPECT_GE(ApproximateBytes({masked}),
            plain + 1'000 * (sizeof(model::FieldPath) + 2 * sizeof(std::string)));

  const std::string long_name(500, 'n');
  const Write transformed = Transform("c/a", {Increment(long_name, 1)});
  EXPECT_GE(ApproximateBytes({transformed}), plain + 500 + sizeof(model::FieldTransform));
}

}  // namespace
}  // namespace hearth::request
