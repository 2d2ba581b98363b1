#include "wire/json_reader.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "wire/json_scalar.h"
#include "wire/map_fields.h"
#include "wire/parse_memory.h"

namespace hearth::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::json;

constexpr size_t kContextBytes = 20;  // Shown on either side of a syntax error.

// About the memory of an object, its place in a list included; of the entry of a map, besides its
// key; and of a text, besides the text itself.
constexpr size_t kObjectBytes = 128;
constexpr size_t kEntryBytes = 256;
constexpr size_t kTextBytes = 64;
// Memory is claimed in steps of this size, too large for the reserve of small claims.
constexpr size_t kClaimBytes = 256 * 1024;

bool IsNullValue(const FieldDescriptor& field) {
  return field.enum_type() != nullptr &&
         field.enum_type()->full_name() == "google.protobuf.NullValue";
}

Status SyntaxError(std::string_view text, size_t position) {
  position = std::min(position, text.size());
  const size_t begin = position - std::min(position, kContextBytes);
  std::string message = position == text.size()
                            ? "Invalid JSON payload received. Unexpected end of string.\n"
                            : "Invalid JSON payload received. Unexpected token.\n";
  message.append(text.substr(begin, position - begin + kContextBytes)).append("\n");
  message.append(position - begin, ' ').append("^");
  return InvalidArgument(std::move(message));
}

// Receives the tokens of the text one by one and stores their values in the message.
class Builder final : public nlohmann::json_sax<json> {
 public:
  Builder(std::string_view text, Message* root, std::string_view root_location, MemoryClaim* claim)
      : text_(text), root_(root), root_location_(root_location), claim_(claim) {}

  const Status& status() const { return status_; }

  bool null() override;
  bool boolean(bool truth) override { return Scalar(truth); }
  // Only signed numbers come here, and -0 is distinct from 0 among doubles.
  bool number_integer(int64_t number) override {
    return number == 0 ? Scalar(-0.0) : Scalar(number);
  }
  bool number_unsigned(uint64_t number) override { return Scalar(number); }
  bool number_float(double number, const std::string&) override { return Scalar(number); }
  bool string(std::string& text) override {
    return Spend(kTextBytes + 2 * text.size()) && Scalar(std::move(text));
  }
  bool binary(json::binary_t&) override { return false; }  // Not in text.
  bool start_object(size_t) override;
  bool key(std::string& name) override;
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override;
  bool end_array() override { return Leave(); }
  bool parse_error(size_t position, const std::string&, const json::exception&) override {
    // The position is one past the invalid byte.
    return Fail(SyntaxError(text_, position > 0 ? position - 1 : 0));
  }

 private:
  enum class Kind : uint8_t { kMessage, kMap, kList };
  enum class Part : uint8_t { kPlace, kAround };

  // An open object or list.
  struct Frame {
    Kind kind;
    Message* message;                        // For a list or a map: the message that contains it.
    const FieldDescriptor* field = nullptr;  // For a message: the last name read.
    size_t count = 0;                        // For a list or a map: the elements started.
    Message* entry = nullptr;                // For a map of single values: the last one.
    Message* value = nullptr;                // For a map of messages: the last one.
    std::unordered_set<std::string> keys = {};  // For a map of single values.
  };

  // Where the next value goes.
  struct Place {
    Message* message;
    const FieldDescriptor* field;
    Kind within;
    Message* value = nullptr;  // For a map of messages, where the place has a message already.
  };

  // False, with the status set, if there is not that much memory.
  bool Spend(size_t bytes) {
    if (bytes <= claimed_bytes_) {
      claimed_bytes_ -= bytes;
      return true;
    }
    return ClaimFor(bytes);
  }
  bool ClaimFor(size_t bytes);
  bool Scalar(JsonScalar value);
  bool Put(const Place& place, JsonScalar value);
  bool Fail(Status status) {
    status_ = std::move(status);
    return false;
  }
  bool FailValue(const Place& place, std::string_view what) {
    return Fail(InvalidJsonValue(Location(), JsonTypeName(*place.field), what));
  }
  bool Enter(Frame frame);
  bool Leave() {
    frames_.pop_back();
    return true;
  }
  Place NextPlace();
  // False, with the status set, if another field of the same oneof has been set.
  bool CheckOneof(const Place& place);
  bool AddEntry(Frame& frame, const std::string& name);
  // The path of the place where the next value goes, or of the object around it.
  std::string Location() const { return LocationOf(Part::kPlace); }
  std::string LocationAround() const { return LocationOf(Part::kAround); }
  std::string LocationOf(Part part) const;

  const std::string_view text_;
  Message* const root_;
  const std::string_view root_location_;
  MemoryClaim* const claim_;  // Null: no limit.
  size_t claimed_bytes_ = 0;  // And not spent.
  std::vector<Frame> frames_;
  Status status_;
};

std::string Builder::LocationOf(Part part) const {
  std::string location(root_location_);
  for (const Frame& frame : frames_) {
    const bool is_last = &frame == &frames_.back();
    if (frame.kind == Kind::kMessage) {
      if (is_last && part == Part::kAround) break;
      if (!location.empty()) location += '.';
      location += frame.field->name();
    } else if (frame.count > 0) {
      location += "[" + std::to_string(frame.count - 1) + "]";
      if (frame.kind == Kind::kMap) location += ".value";
    }
  }
  return location;
}

Builder::Place Builder::NextPlace() {
  Frame& frame = frames_.back();
  if (frame.kind == Kind::kMap) {
    return {frame.entry, frame.field->message_type()->map_value(), Kind::kMap, frame.value};
  }
  if (frame.kind == Kind::kList) ++frame.count;
  return {frame.message, frame.field, frame.kind};
}

bool Builder::CheckOneof(const Place& place) {
  const auto* oneof = place.field->real_containing_oneof();
  if (oneof == nullptr || !place.message->GetReflection()->HasOneof(*place.message, oneof)) {
    return true;
  }
  return Fail(InvalidJsonValue(LocationAround(), "oneof",
                               "oneof field '" + oneof->name() + "' is already set. Cannot set '" +
                                   place.field->json_name() + "'"));
}

bool Builder::Enter(Frame frame) {
  if (frames_.size() >= kJsonDepthMax) {
    return Fail(
        InvalidArgument("Invalid JSON payload received. Message too deep. Max recursion "
                        "depth reached for '" +
                        Location().substr(0, 100) + "…'"));
  }
  frames_.push_back(std::move(frame));
  return true;
}

bool Builder::ClaimFor(size_t bytes) {
  if (claim_ == nullptr) return true;
  const size_t more = std::max(bytes - claimed_bytes_, kClaimBytes);
  if (!claim_->Grow(more)) return Fail(NoMemoryForMessage());
  claimed_bytes_ += more - bytes;
  return true;
}

bool Builder::start_object(size_t) {
  if (!Spend(kObjectBytes)) return false;
  if (frames_.empty()) return Enter({.kind = Kind::kMessage, .message = root_});
  const Place place = NextPlace();
  const FieldDescriptor& field = *place.field;
  if (place.within == Kind::kMessage && field.is_map()) {
    return Enter({.kind = Kind::kMap, .message = place.message, .field = &field});
  }
  if (place.within != Kind::kList && field.is_repeated()) {
    return FailValue(place, "Starting an object where a list is expected");
  }
  if (field.message_type() == nullptr || IsJsonScalarType(*field.message_type())) {
    return FailValue(place, "Starting an object on a scalar field");
  }
  if (place.value != nullptr) return Enter({.kind = Kind::kMessage, .message = place.value});
  if (!CheckOneof(place)) return false;
  const Reflection& reflection = *place.message->GetReflection();
  Message* message = field.is_repeated() ? reflection.AddMessage(place.message, &field)
                                         : reflection.MutableMessage(place.message, &field);
  return Enter({.kind = Kind::kMessage, .message = message});
}

bool Builder::start_array(size_t) {
  if (frames_.empty()) {
    return Fail(UnknownJsonName("", "", "Root element must be a message."));
  }
  const Place place = NextPlace();
  if (place.within != Kind::kMessage || !place.field->is_repeated() || place.field->is_map()) {
    return Fail(UnknownJsonName(place.within == Kind::kMap ? "value" : place.field->json_name(),
                                LocationAround(),
                                "Proto field is not repeating, cannot start list."));
  }
  return Enter({.kind = Kind::kList, .message = place.message, .field = place.field});
}

bool Builder::key(std::string& name) {
  Frame& frame = frames_.back();
  if (frame.kind == Kind::kMap) return AddEntry(frame, name);
  frame.field = FindJsonField(*frame.message->GetDescriptor(), name);
  return frame.field != nullptr ||
         Fail(UnknownJsonName(name, LocationAround(), "Cannot find field."));
}

bool Builder::AddEntry(Frame& frame, const std::string& name) {
  ++frame.count;
  if (!Spend(kEntryBytes + 4 * name.size())) return false;
  const FieldDescriptor& value_field = *frame.field->message_type()->map_value();
  const bool has_messages =
      IsMapOfMessages(*frame.field) && !IsJsonScalarType(*value_field.message_type());
  if (has_messages) frame.value = AddToMap(name, frame.message, *frame.field);
  if (has_messages ? frame.value == nullptr : !frame.keys.insert(name).second) {
    return Fail(InvalidJsonValue(LocationAround(), "Map",
                                 "Repeated map key: '" +
                                     std::string(Beginning(name, kQuotedBytesMax)) +
                                     "' is already set."));
  }
  if (has_messages) return true;
  const Reflection& reflection = *frame.message->GetReflection();
  frame.entry = reflection.AddMessage(frame.message, frame.field);
  const FieldDescriptor& key_field = *frame.field->message_type()->map_key();
  JsonScalar key = name;
  return SetJsonScalar(frame.entry, key_field, key) ||
         Fail(InvalidJsonScalar(LocationAround(), key_field, key));
}

bool Builder::null() {
  if (frames_.empty()) {
    return Fail(UnknownJsonName("", "", "Root element must be a message."));
  }
  const Place place = NextPlace();
  if (IsNullValue(*place.field)) return Put(place, int64_t{0});
  // Otherwise null means that a field is not set, but an element always is.
  return place.within == Kind::kMessage || FailValue(place, "null");
}

bool Builder::Scalar(JsonScalar value) {
  if (frames_.empty()) {
    return Fail(UnknownJsonName("", "", "Root element must be a message."));
  }
  return Put(NextPlace(), std::move(value));
}

bool Builder::Put(const Place& place, JsonScalar value) {
  if (place.field->is_repeated() && place.within != Kind::kList) {
    return Fail(InvalidJsonScalar(Location(), *place.field, value));
  }
  if (!CheckOneof(place)) return false;
  return SetJsonScalar(place.message, *place.field, value) ||
         Fail(InvalidJsonScalar(Location(), *place.field, value));
}

}  // namespace

Status ReadJson(std::string_view text, Message* message, std::string_view location,
                MemoryClaim* claim) {
  Builder builder(text, message, location, claim);
  if (json::sax_parse(text, &builder)) return Status();
  return builder.status();
}

}  // namespace hearth::wire
