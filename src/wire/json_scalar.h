// Single values between JSON and fields of messages, and the words Google's APIs find for what
// does not fit.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"

namespace hearth::wire {

// Invalid JSON payload received. Unknown name "x" at 'document': Cannot find field.
Status UnknownJsonName(std::string_view name, std::string_view location, std::string_view why);

// Invalid value at 'page_size' (TYPE_INT32), "x"
Status InvalidJsonValue(std::string_view location, std::string_view type, std::string_view value);

// "TYPE_INT32", or the address of the type of a message or an enumeration.
std::string JsonTypeName(const google::protobuf::FieldDescriptor& field);

// By the name that JSON gives it or the one in the .proto file; null if there is none.
const google::protobuf::FieldDescriptor* FindJsonField(const google::protobuf::Descriptor& type,
                                                       std::string_view name);

// A value of JSON that is neither list nor object nor null.
using JsonScalar = std::variant<bool, int64_t, uint64_t, double, std::string>;

// Sets `field`, or adds to it where it is repeated, and takes `value`. Strings stand for values of
// every type, as they do in the query of a URL. False, with `value` as it was, where the field
// cannot hold it.
[[nodiscard]] bool SetJsonScalar(google::protobuf::Message* message,
                                 const google::protobuf::FieldDescriptor& field, JsonScalar& value);

// What to say then.
Status InvalidJsonScalar(std::string_view location, const google::protobuf::FieldDescriptor& field,
                         const JsonScalar& value);

// Messages that JSON writes as a single value.
bool IsJsonScalarType(const google::protobuf::Descriptor& type);
// Wrappers of one value, such as Int32Value.
bool IsWrapperType(const google::protobuf::Descriptor& type);

}  // namespace hearth::wire
