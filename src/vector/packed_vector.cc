#include "vector/packed_vector.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "base/status_macros.h"
#include "model/limits.h"
#include "model/value_wire.h"
#include "model/wire_format.h"

namespace hearth::vector {
namespace {

// A stored component: the tag of an item, its length, the tag of a double, 8 bytes.
constexpr size_t kItemHeaderBytes = 3;
constexpr size_t kItemBytes = kItemHeaderBytes + sizeof(double);
static_assert(model::kArrayItemTag < 0x80 && model::kDoubleTag < 0x80);

double LoadDouble(const char* bytes) {
  uint64_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  if constexpr (std::endian::native == std::endian::big) bits = __builtin_bswap64(bits);
  return std::bit_cast<double>(bits);
}

void StoreDouble(double number, char* bytes) {
  auto bits = std::bit_cast<uint64_t>(number);
  if constexpr (std::endian::native == std::endian::big) bits = __builtin_bswap64(bits);
  std::memcpy(bytes, &bits, sizeof(bits));
}

// The items of the array inside a vector, one after the other.
std::string_view Items(model::ValueView value) {
  const std::optional<model::ValueView> array = value.map().Find(model::kVectorValueName);
  CHECK(array.has_value());
  model::WireReader reader(array->encoded());
  uint64_t tag;
  std::string_view items;
  CHECK(reader.Varint(&tag) && tag == model::kArrayTag && reader.Bytes(&items));
  return items;
}

bool IsDoubleItem(const char* item) {
  return item[0] == static_cast<char>(model::kArrayItemTag) &&
         item[1] == static_cast<char>(1 + sizeof(double)) &&
         item[2] == static_cast<char>(model::kDoubleTag);
}

}  // namespace

std::vector<double> DecodeVector(model::ValueView value) {
  std::vector<double> components;
  DecodeVector(value, &components);
  return components;
}

void DecodeVector(model::ValueView value, std::vector<double>* components) {
  const std::string_view items = Items(value);
  const size_t dimension = items.size() / kItemBytes;
  CHECK(items.size() % kItemBytes == 0);
  components->resize(dimension);
  for (size_t i = 0; i < dimension; ++i) {
    const char* item = items.data() + i * kItemBytes;
    CHECK(IsDoubleItem(item));
    (*components)[i] = LoadDouble(item + kItemHeaderBytes);
  }
}

size_t VectorDimension(model::ValueView value) { return Items(value).size() / kItemBytes; }

std::string PackVector(std::span<const double> components) {
  std::string packed(components.size() * sizeof(double), '\0');
  for (size_t i = 0; i < components.size(); ++i) {
    StoreDouble(components[i], packed.data() + i * sizeof(double));
  }
  return packed;
}

std::string PackVector(model::ValueView value) {
  const std::string_view items = Items(value);
  const size_t dimension = items.size() / kItemBytes;
  CHECK(items.size() % kItemBytes == 0);
  std::string packed(dimension * sizeof(double), '\0');
  for (size_t i = 0; i < dimension; ++i) {
    const char* item = items.data() + i * kItemBytes;
    CHECK(IsDoubleItem(item));
    std::memcpy(packed.data() + i * sizeof(double), item + kItemHeaderBytes, sizeof(double));
  }
  return packed;
}

Result<std::vector<double>> UnpackVector(std::string_view packed) {
  std::vector<double> components;
  RETURN_IF_ERROR(UnpackVector(packed, &components));
  return components;
}

Status UnpackVector(std::string_view packed, std::vector<double>* components) {
  const size_t dimension = packed.size() / sizeof(double);
  if (packed.size() % sizeof(double) != 0 || dimension == 0 ||
      dimension > model::kVectorDimensionsMax) {
    return Status(Code::kDataLoss,
                  "a packed vector cannot have " + std::to_string(packed.size()) + " bytes");
  }
  components->resize(dimension);
  for (size_t i = 0; i < dimension; ++i) {
    (*components)[i] = LoadDouble(packed.data() + i * sizeof(double));
  }
  return Status();
}

}  // namespace hearth::vector
