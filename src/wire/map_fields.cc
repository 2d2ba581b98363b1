#include "wire/map_fields.h"

#include <google/protobuf/map_field.h>

#include <algorithm>

namespace google::protobuf::expr {

// libprotobuf's map interface is private, except to a class of this name. Without it, every read of
// a map by reflection copies the map.
class CelMapReflectionFriend {
 public:
  static MapIterator Begin(Message* message, const FieldDescriptor& field) {
    return message->GetReflection()->MapBegin(message, &field);
  }
  static MapIterator End(Message* message, const FieldDescriptor& field) {
    return message->GetReflection()->MapEnd(message, &field);
  }
  static bool Insert(Message* message, const FieldDescriptor& field, const MapKey& key,
                     MapValueRef* value) {
    return message->GetReflection()->InsertOrLookupMapValue(message, &field, key, value);
  }
};

}  // namespace google::protobuf::expr

namespace hearth::wire {

using google::protobuf::FieldDescriptor;
using google::protobuf::MapIterator;
using google::protobuf::Message;
using Maps = google::protobuf::expr::CelMapReflectionFriend;

bool IsMapOfMessages(const FieldDescriptor& field) {
  return field.is_map() &&
         field.message_type()->map_key()->cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
         field.message_type()->map_value()->message_type() != nullptr;
}

std::vector<std::pair<std::string, const Message*>> SortedMap(const Message& message,
                                                              const FieldDescriptor& field) {
  // An iterator could change the values, so it requires a message that can be changed.
  auto* const map = const_cast<Message*>(&message);
  std::vector<std::pair<std::string, const Message*>> values;
  const MapIterator end = Maps::End(map, field);
  for (MapIterator next = Maps::Begin(map, field); next != end; ++next) {
    values.emplace_back(next.GetKey().GetStringValue(), &next.GetValueRef().GetMessageValue());
  }
  std::ranges::sort(values);
  return values;
}

Message* AddToMap(const std::string& key, Message* message, const FieldDescriptor& field) {
  google::protobuf::MapKey map_key;
  map_key.SetStringValue(key);
  google::protobuf::MapValueRef value;
  return Maps::Insert(message, field, map_key, &value) ? value.MutableMessageValue() : nullptr;
}

}  // namespace hearth::wire
