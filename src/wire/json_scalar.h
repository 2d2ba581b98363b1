// Single values between JSON and fields of messages, and the error messages of Google's APIs for
// values that do not fit.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"

namespace hearth::wire {

// Errors quote no more than this of a name or a value: they do not echo a megabyte.
inline constexpr size_t kQuotedBytesMax = 1'000;

// Invalid JSON payload received. Unknown name "x" at 'document': Cannot find field.
Status UnknownJsonName(std::string_view name, std::string_view location, std::string_view why);

// Invalid value at 'page_size' (TYPE_INT32), "x"
Status InvalidJsonValue(std::string_view location, std::string_view type, std::string_view value);

// "TYPE_INT32", or the URL of the type of a message or an enumeration.
std::string JsonTypeName(const google::protobuf::FieldDescriptor& field);

// By its JSON name or its name in the .proto file; null if there is none.
const google::protobuf::FieldDescriptor* FindJsonField(const google::protobuf::Descriptor& type,
                                                       std::string_view name);

// A JSON value that is neither list nor object nor null.
using JsonScalar = std::variant<bool, int64_t, uint64_t, double, std::string>;

// Sets `field`, or appends to it if it is repeated, and moves `value`. Strings are accepted for
// values of every type, as in the query of a URL. False, with `value` unchanged, if the field
// cannot hold it.
[[nodiscard]] bool SetJsonScalar(google::protobuf::Message* message,
                                 const google::protobuf::FieldDescriptor& field, JsonScalar& value);

// The error for that case.
Status InvalidJsonScalar(std::string_view location, const google::protobuf::FieldDescriptor& field,
                         const JsonScalar& value);

// Messages that JSON writes as a single value.
bool IsJsonScalarType(const google::protobuf::Descriptor& type);
// Wrappers of one value, such as Int32Value.
bool IsWrapperType(const google::protobuf::Descriptor& type);

}  // namespace hearth::wire
