#include "wire/parse_memory.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

namespace hearth::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::MessageFactory;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;
using google::protobuf::io::CodedInputStream;

// An allocation of `bytes`, with the allocator's head.
constexpr size_t Allocated(size_t bytes) {
  return std::max<size_t>(32, (bytes + 8 + 15) / 16 * 16);
}

// An element of an array that doubles when it is full.
constexpr size_t Element(size_t bytes) { return 2 * bytes; }

constexpr size_t kTextObjectBytes = Allocated(sizeof(std::string));
// What we make of an element of the outermost message, such as a write, besides its bytes.
constexpr size_t kOwnObjectBytes = 256;
// The bytes themselves, serialized in canonical form, and in our own object.
constexpr size_t kCopies = 2;
constexpr int kFieldNumberMax = 1'000;
// Memory is claimed in steps of this size while a message is counted, so that counting ends early
// if there is not enough.
constexpr size_t kClaimStepBytes = 1024 * 1024;

size_t TextBytes(size_t size) {
  return kTextObjectBytes + (size < sizeof(std::string) / 2 ? 0 : Allocated(size + 1));
}

// What matters here about a type of messages.
struct Shape {
  struct Field {
    const FieldDescriptor* descriptor = nullptr;
    Shape* shape = nullptr;  // Of a message that has occurred before.
  };

  size_t object_bytes;
  std::vector<Field> fields;  // By number.
};

class Meter {
 public:
  // `claim` grows while this counts; null: nothing is claimed.
  explicit Meter(MemoryClaim* claim) : claim_(claim) {}

  // nullopt as soon as the claim is refused.
  std::optional<size_t> Count(const Descriptor& type, std::string_view bytes);

 private:
  // A message whose fields are being counted.
  struct Open {
    Shape* shape;
    CodedInputStream::Limit limit_around;
    size_t groups = 0;  // That are open in it; all of them are unknown fields.
    bool has_unknown_fields = false;
  };
  enum class Wire : uint32_t {
    kVarint = 0,
    kFixed64 = 1,
    kBytes = 2,
    kGroup = 3,
    kGroupEnd = 4,
    kFixed32 = 5
  };

  Shape& ShapeOf(const Descriptor& type);
  // These return false where the bytes are not valid: libprotobuf will stop there, too.
  bool Field(uint32_t tag);
  bool Skip(Wire wire, size_t* size);
  bool Enter(Shape::Field& field, size_t size);
  bool Known(const FieldDescriptor& field, Wire wire, size_t size);
  void Unknown(Wire wire, size_t size);

  bool ClaimMore();

  MemoryClaim* const claim_;
  size_t claimed_bytes_ = 0;  // Without a claim, this stays 0.
  std::map<const Descriptor*, Shape> shapes_;
  std::vector<Open> open_;
  CodedInputStream* in_ = nullptr;
  size_t bytes_ = 0;
};

Shape& Meter::ShapeOf(const Descriptor& type) {
  const auto [found, is_new] = shapes_.try_emplace(&type);
  Shape& shape = found->second;
  if (!is_new) return shape;
  // The object of a map's entry is part of the map: its key and its value are counted.
  shape.object_bytes =
      type.options().map_entry()
          ? 0
          : Allocated(MessageFactory::generated_factory()->GetPrototype(&type)->SpaceUsedLong());
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    CHECK(field.number() <= kFieldNumberMax);
    const auto number = static_cast<size_t>(field.number());
    if (shape.fields.size() <= number) shape.fields.resize(number + 1);
    shape.fields[number].descriptor = &field;
  }
  return shape;
}

bool Meter::ClaimMore() {
  if (claim_ == nullptr) return true;
  const size_t more = bytes_ - claimed_bytes_ + kClaimStepBytes;
  if (!claim_->Grow(more)) return false;
  claimed_bytes_ += more;
  return true;
}

std::optional<size_t> Meter::Count(const Descriptor& type, std::string_view bytes) {
  bytes_ = kCopies * bytes.size();
  CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                      static_cast<int>(bytes.size()));
  in_ = &in;
  open_.push_back({&ShapeOf(type), in.PushLimit(static_cast<int>(bytes.size()))});
  while (true) {
    if (bytes_ > claimed_bytes_ && !ClaimMore()) return std::nullopt;
    const uint32_t tag = in.ReadTag();
    if (tag != 0) {
      if (!Field(tag)) break;
      continue;
    }
    if (!in.ConsumedEntireMessage() || open_.size() == 1) break;
    in.PopLimit(open_.back().limit_around);
    open_.pop_back();
  }
  return bytes_;
}

bool Meter::Field(uint32_t tag) {
  Open& open = open_.back();
  const auto wire = static_cast<Wire>(tag & 7);
  if (wire == Wire::kGroupEnd) return open.groups-- > 0;
  const size_t number = tag >> 3;
  Shape::Field* field = nullptr;
  if (open.groups == 0 && number < open.shape->fields.size()) field = &open.shape->fields[number];
  if (field != nullptr && field->descriptor == nullptr) field = nullptr;
  size_t size = 0;
  if (wire == Wire::kBytes) {
    int length = 0;
    if (!in_->ReadVarintSizeAsInt(&length)) return false;
    size = static_cast<size_t>(length);
    if (field != nullptr && field->descriptor->message_type() != nullptr) {
      return Enter(*field, size);
    }
  }
  if (!Skip(wire, &size)) return false;
  if (field == nullptr || !Known(*field->descriptor, wire, size)) Unknown(wire, size);
  return true;
}

bool Meter::Skip(Wire wire, size_t* size) {
  uint64_t number = 0;
  uint32_t small_number = 0;
  switch (wire) {
    case Wire::kVarint:
      return in_->ReadVarint64(&number);
    case Wire::kFixed64:
      return in_->ReadLittleEndian64(&number);
    case Wire::kFixed32:
      return in_->ReadLittleEndian32(&small_number);
    case Wire::kBytes:
      return in_->Skip(static_cast<int>(*size));
    case Wire::kGroup:
      ++open_.back().groups;
      return true;
    case Wire::kGroupEnd:
      break;
  }
  return false;
}

bool Meter::Enter(Shape::Field& field, size_t size) {
  // The outermost message is open, too, but libprotobuf does not count it.
  if (open_.size() > static_cast<size_t>(kMessageDepthMax)) return false;
  if (field.shape == nullptr) field.shape = &ShapeOf(*field.descriptor->message_type());
  Shape* const shape = field.shape;
  bytes_ += shape->object_bytes;
  if (field.descriptor->is_repeated()) bytes_ += Element(sizeof(void*));
  if (open_.size() == 1 && !field.descriptor->is_map()) bytes_ += kOwnObjectBytes;
  open_.push_back({shape, in_->PushLimit(static_cast<int>(size))});
  return true;
}

bool Meter::Known(const FieldDescriptor& field, Wire wire, size_t size) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) return false;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    if (wire != Wire::kBytes) return false;
    bytes_ += TextBytes(size) + (field.is_repeated() ? Element(sizeof(void*)) : 0);
    return true;
  }
  if (wire == Wire::kGroup) return false;
  if (field.is_repeated()) bytes_ += Element(sizeof(uint64_t)) * std::max<size_t>(size, 1);
  return wire != Wire::kBytes || field.is_packable();
}

void Meter::Unknown(Wire wire, size_t size) {
  if (!std::exchange(open_.back().has_unknown_fields, true)) {
    bytes_ += Allocated(sizeof(UnknownFieldSet) + sizeof(void*));
  }
  bytes_ += Element(sizeof(UnknownField));
  if (wire == Wire::kBytes) bytes_ += TextBytes(size);
  if (wire == Wire::kGroup) bytes_ += Allocated(sizeof(UnknownFieldSet));
}

}  // namespace

size_t ParsedBytes(const Descriptor& type, std::string_view bytes) {
  return *Meter(nullptr).Count(type, bytes);
}

Status ClaimParsed(const Descriptor& type, std::string_view bytes, MemoryClaim* claim) {
  if (bytes.size() <= kUnclaimedBytesMax) return Status();
  const size_t before = claim->bytes();
  const std::optional<size_t> parsed_bytes = Meter(claim).Count(type, bytes);
  const bool is_claimed = parsed_bytes && claim->Resize(before + *parsed_bytes);
  if (is_claimed) return Status();
  claim->Shrink(claim->bytes() - before);
  return NoMemoryForMessage();
}

}  // namespace hearth::wire
