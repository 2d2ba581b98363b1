// Maps of messages by reflection. The public interface of libprotobuf shows a map as a list of
// entries, which it copies; every map inside of them is then copied again, with all that is below.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <utility>
#include <vector>

namespace hearth::wire {

// Whether `field` is a map from strings to messages, which the functions below require.
bool IsMapOfMessages(const google::protobuf::FieldDescriptor& field);

// The values of the map by key, sorted. Borrows the message.
std::vector<std::pair<std::string, const google::protobuf::Message*>> SortedMap(
    const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field);

// A new value in the map; null if there is one with that key.
google::protobuf::Message* AddToMap(const std::string& key, google::protobuf::Message* message,
                                    const google::protobuf::FieldDescriptor& field);

}  // namespace hearth::wire
