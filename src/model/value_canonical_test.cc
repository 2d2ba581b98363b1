#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/testing/test_seed.h"
#include "model/fields.h"
#include "model/testing/random_value.h"
#include "model/value_order.h"

namespace hearth::model {
namespace {

// Encodes trees in ways that protobuf allows but the stored form does not.
class SloppyEncoder {
 public:
  explicit SloppyEncoder(uint64_t seed) : random_(seed) {}

  std::string DocumentFields(const std::map<std::string, Tree>& fields) {
    return Entries(fields, WireTag(2, WireType::kBytes));
  }

 private:
  bool Chance() { return random_.Below(4) == 0; }

  void Varint(uint64_t number, std::string* out) {
    AppendVarint(number, out);
    if (!Chance() || out->back() < 0 || VarintSize(number) > 8) return;
    out->back() = static_cast<char>(out->back() | 0x80);
    out->append(random_.Below(2), '\x80').push_back('\0');
  }

  void Bytes(uint32_t tag, std::string_view bytes, std::string* out) {
    Varint(tag, out);
    Varint(bytes.size(), out);
    out->append(bytes);
  }

  std::string Wrapped(uint32_t tag, std::string_view bytes) {
    std::string out;
    Bytes(tag, bytes, &out);
    return out;
  }

  std::string VarintField(uint32_t tag, uint64_t number) {
    std::string out;
    Varint(tag, &out);
    Varint(number, &out);
    return out;
  }

  std::string DoubleField(uint32_t tag, double number) {
    std::string out;
    Varint(tag, &out);
    auto bits = std::bit_cast<uint64_t>(number);
    if (number != number) bits = kNanBits | random_.Below(1'000) | uint64_t{random_.Below(2)} << 63;
    AppendFixed64(bits, &out);
    return out;
  }

  // Two fields in either order, the first possibly preceded by a duplicate that it overrides.
  std::string Swapped(const std::string& first, const std::string& second,
                      const std::string& overridden) {
    std::string out = Chance() ? overridden : "";
    return Chance() ? out + second + first : out + first + second;
  }

  std::string Entries(const std::map<std::string, Tree>& fields, uint32_t tag) {
    std::vector<std::string> entries;
    for (const auto& [name, tree] : fields) {
      entries.push_back(
          Wrapped(tag, Swapped(Wrapped(kEntryNameTag, name), Wrapped(kEntryValueTag, Value(tree)),
                               Wrapped(kEntryNameTag, "overridden"))));
    }
    for (size_t i = entries.size(); i > 1; --i)
      std::swap(entries[i - 1], entries[random_.Below(i)]);
    std::string out;
    if (Chance() && !fields.empty()) {
      // A later entry with the same name wins.
      const std::string& name = fields.begin()->first;
      if (name != "__type__") {
        Bytes(tag, Wrapped(kEntryNameTag, name) + Wrapped(kEntryValueTag, EncodeNull()), &out);
      }
    }
    for (const std::string& entry : entries) out += entry;
    return out;
  }

  std::string Array(const std::vector<Tree>& items) {
    std::string body;
    for (const Tree& item : items) Bytes(kArrayItemTag, Value(item), &body);
    return Wrapped(kArrayTag, body);
  }

  std::string TimestampBody(Timestamp time) {
    const uint64_t nanos = static_cast<uint64_t>(time.nanos()) + random_.Below(1'000);
    return Swapped(VarintField(kSecondsTag, static_cast<uint64_t>(time.seconds())),
                   VarintField(kNanosTag, nanos), VarintField(kSecondsTag, 77));
  }

  std::string Value(const Tree& tree) {
    switch (tree.type) {
      case ValueType::kNull:
        return VarintField(kNullTag, random_.Below(3));
      case ValueType::kBoolean:
        return VarintField(kBooleanTag, tree.boolean ? 1 + random_.Below(300) : 0);
      case ValueType::kInteger:
        return VarintField(kIntegerTag, static_cast<uint64_t>(tree.integer));
      case ValueType::kDouble:
        return DoubleField(kDoubleTag, tree.number);
      case ValueType::kTimestamp:
        return Wrapped(kTimestampTag, TimestampBody(Timestamp::FromMicros(tree.integer)));
      case ValueType::kString:
        return Wrapped(kStringTag, tree.text);
      case ValueType::kBytes:
        return Wrapped(kBytesTag, tree.text);
      case ValueType::kReference:
        return Wrapped(kReferenceTag, tree.text);
      case ValueType::kGeoPoint:
        return Wrapped(kGeoPointTag, Swapped(DoubleField(kLatitudeTag, tree.number),
                                             DoubleField(kLongitudeTag, tree.longitude),
                                             DoubleField(kLatitudeTag, 77)));
      case ValueType::kArray:
        return Array(tree.items);
      case ValueType::kVector:
        return Wrapped(kMapTag,
                       Entries({{"__type__", {.type = ValueType::kString, .text = "__vector__"}},
                                {"value", {.type = ValueType::kArray, .items = tree.items}}},
                               WireTag(1, WireType::kBytes)));
      case ValueType::kMap:
        break;
    }
    return Wrapped(kMapTag, Entries(tree.fields, WireTag(1, WireType::kBytes)));
  }

  RandomTrees random_;
};

TEST(CanonicalFieldsTest, EveryEncodingOfTheSameFieldsBecomesOne) {
  const uint64_t seed = TestSeed();
  RandomTrees random(seed);
  SloppyEncoder sloppy(seed + 1);
  for (int i = 0; i < 10'000; ++i) {
    const std::map<std::string, Tree> fields = random.Fields(4);
    const std::string canonical = EncodeDocumentFields(fields);
    const Result<Fields> kept = Fields::Validate(canonical);
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    ASSERT_EQ(kept->encoded(), canonical);

    const std::string encoded = sloppy.DocumentFields(fields);
    const Result<Fields> validated = Fields::Validate(encoded);
    ASSERT_TRUE(validated.ok()) << validated.status().message();
    ASSERT_EQ(validated->encoded(), canonical) << testing::PrintToString(encoded);
  }
}

TEST(CanonicalFieldsTest, DamagedBytesAreRefusedOrBecomeValid) {
  const uint64_t seed = TestSeed();
  RandomTrees random(seed);
  SloppyEncoder sloppy(seed + 1);
  for (int i = 0; i < 50'000; ++i) {
    std::string bytes = sloppy.DocumentFields(random.Fields(3));
    for (size_t damages = 1 + random.Below(3); damages > 0 && !bytes.empty(); --damages) {
      const size_t at = random.Below(bytes.size());
      if (random.Below(3) == 0) {
        bytes.resize(at);
      } else {
        bytes[at] = static_cast<char>(random.Below(256));
      }
    }
    const Result<Fields> fields = Fields::Validate(bytes);
    if (!fields.ok()) {
      ASSERT_EQ(fields.status().code(), Code::kInvalidArgument);
      ASSERT_FALSE(fields.status().message().empty());
      continue;
    }
    SCOPED_TRACE(testing::PrintToString(bytes));
    const Result<Fields> again = Fields::Validate(fields->encoded());
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(*again, *fields);
    ASSERT_EQ(FieldEditor(*fields).Finish(), *fields);
    std::ignore = fields->SizeBytes();
    for (MapView rest = fields->view(); const std::optional<FieldView> field = rest.Next();) {
      ASSERT_TRUE(CompareValues(field->value, field->value) == 0);
    }
  }
}

}  // namespace
}  // namespace hearth::model
