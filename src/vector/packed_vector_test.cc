#include "vector/packed_vector.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/testing/test_seed.h"
#include "model/limits.h"
#include "model/value_wire.h"

namespace hearth::vector {
namespace {

std::string Stored(const std::vector<double>& components) {
  std::vector<std::string> items;
  for (const double component : components) items.push_back(model::EncodeDouble(component));
  return model::EncodeMap(
      {{std::string(model::kVectorTypeName), model::EncodeString(model::kVectorType)},
       {std::string(model::kVectorValueName), model::EncodeArray(items)}});
}

std::vector<uint64_t> Bits(const std::vector<double>& components) {
  std::vector<uint64_t> bits;
  for (const double component : components) bits.push_back(std::bit_cast<uint64_t>(component));
  return bits;
}

std::vector<double> RandomVector(Dice& dice, size_t size) {
  std::vector<double> components(size);
  for (double& component : components) {
    component = static_cast<double>(dice.Below(1'000'000)) / 999 - 500;
  }
  return components;
}

TEST(PackedVectorTest, DecodesWhatIsStored) {
  Dice dice(TestSeed());
  std::vector<double> again;
  for (const size_t size : {size_t{1}, size_t{2}, size_t{11}, size_t{768}, size_t{2'048}}) {
    const std::vector<double> components = RandomVector(dice, size);
    const std::string stored = Stored(components);
    const model::ValueView value(stored);
    ASSERT_EQ(value.type(), model::ValueType::kVector);
    EXPECT_EQ(DecodeVector(value), components);
    EXPECT_EQ(VectorDimension(value), size);
    DecodeVector(value, &again);
    EXPECT_EQ(again, components);
    EXPECT_EQ(PackVector(value), PackVector(components));
  }
}

TEST(PackedVectorTest, IsExact) {
  using Limits = std::numeric_limits<double>;
  const std::vector<double> components = {
      0.0, -0.0, 0.1, Limits::denorm_min(), Limits::max(), Limits::infinity(), -Limits::infinity()};
  const std::string stored = Stored(components);
  EXPECT_EQ(Bits(DecodeVector(model::ValueView(stored))), Bits(components));
  const auto unpacked = UnpackVector(PackVector(components));
  ASSERT_TRUE(unpacked.ok());
  EXPECT_EQ(Bits(*unpacked), Bits(components));
}

TEST(PackedVectorTest, IsLittleEndian) {
  EXPECT_EQ(PackVector(std::vector<double>{1.0, -2.0}),
            std::string("\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0", 16));
}

TEST(PackedVectorTest, DamagedLengthsAreDataLoss) {
  const std::string packed = PackVector(std::vector<double>(4, 1.5));
  for (size_t size = 0; size < packed.size(); ++size) {
    const auto unpacked = UnpackVector(packed.substr(0, size));
    EXPECT_EQ(unpacked.ok(), size > 0 && size % 8 == 0);
    if (unpacked.ok()) continue;
    EXPECT_EQ(unpacked.status().code(), Code::kDataLoss);
  }
  EXPECT_TRUE(UnpackVector(std::string(8 * model::kVectorDimensionsMax, '\0')).ok());
  EXPECT_EQ(UnpackVector(std::string(8 * (model::kVectorDimensionsMax + 1), '\0')).status().code(),
            Code::kDataLoss);
}

}  // namespace
}  // namespace hearth::vector
