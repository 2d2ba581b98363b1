#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "cases/runner/client_convert.h"

namespace hearth::cases {
namespace {

Result<client::Array> ArrayToClient(const proto::ArrayValue& array) {
  client::Array result;
  for (const proto::Value& value : array.values()) {
    ASSIGN_OR_RETURN(client::Value converted, ToClient(value));
    result.push_back(std::move(converted));
  }
  return result;
}

// A map that the client writes as a vector.
std::optional<client::Vector> VectorOf(const proto::MapValue& map) {
  const auto type = map.fields().find("__type__");
  const auto value = map.fields().find("value");
  if (map.fields().size() != 2 || type == map.fields().end() || value == map.fields().end() ||
      type->second.string_value() != "__vector__" || !value->second.has_array_value()) {
    return std::nullopt;
  }
  client::Vector vector;
  for (const proto::Value& component : value->second.array_value().values()) {
    if (!component.has_double_value()) return std::nullopt;
    vector.components.push_back(component.double_value());
  }
  return vector;
}

Result<client::Value> MapToClient(const proto::MapValue& map) {
  if (auto vector = VectorOf(map)) return client::Value(*std::move(vector));
  client::Map result;
  for (const auto& [name, value] : map.fields()) {
    ASSIGN_OR_RETURN(client::Value converted, ToClient(value));
    result.emplace(name, std::move(converted));
  }
  return client::Value(std::move(result));
}

void VectorToProto(const client::Vector& vector, proto::Value* value) {
  auto& fields = *value->mutable_map_value()->mutable_fields();
  fields["__type__"].set_string_value("__vector__");
  proto::ArrayValue* array = fields["value"].mutable_array_value();
  for (const double component : vector.components) array->add_values()->set_double_value(component);
}

}  // namespace

Result<client::Value> ToClient(const proto::Value& value) {
  switch (value.value_type_case()) {
    case proto::Value::kNullValue:
      return client::Value();
    case proto::Value::kBooleanValue:
      return client::Value(value.boolean_value());
    case proto::Value::kIntegerValue:
      return client::Value(value.integer_value());
    case proto::Value::kDoubleValue:
      return client::Value(value.double_value());
    case proto::Value::kTimestampValue: {
      ASSIGN_OR_RETURN(const client::Timestamp time,
                       client::Timestamp::FromParts(value.timestamp_value().seconds(),
                                                    value.timestamp_value().nanos()));
      return client::Value(time);
    }
    case proto::Value::kStringValue:
      return client::Value(value.string_value());
    case proto::Value::kBytesValue:
      return client::Value(client::Bytes{value.bytes_value()});
    case proto::Value::kReferenceValue:
      return client::Value(client::Reference{value.reference_value()});
    case proto::Value::kGeoPointValue:
      return client::Value(client::GeoPoint{value.geo_point_value().latitude(),
                                            value.geo_point_value().longitude()});
    case proto::Value::kArrayValue: {
      ASSIGN_OR_RETURN(client::Array array, ArrayToClient(value.array_value()));
      return client::Value(std::move(array));
    }
    case proto::Value::kMapValue:
      return MapToClient(value.map_value());
    default:
      return InvalidArgument("the client has no value without a type");
  }
}

proto::Value ToProto(const client::Value& value) {
  proto::Value result;
  if (value.IsNull()) {
    result.set_null_value(google::protobuf::NULL_VALUE);
  } else if (const auto boolean = value.boolean()) {
    result.set_boolean_value(*boolean);
  } else if (const auto integer = value.integer()) {
    result.set_integer_value(*integer);
  } else if (const auto number = value.number()) {
    result.set_double_value(*number);
  } else if (const auto time = value.timestamp()) {
    *result.mutable_timestamp_value() = ToProto(*time);
  } else if (const std::string* text = value.text()) {
    result.set_string_value(*text);
  } else if (const client::Bytes* bytes = value.bytes()) {
    result.set_bytes_value(bytes->bytes);
  } else if (const client::Reference* reference = value.reference()) {
    result.set_reference_value(reference->name);
  } else if (const auto point = value.geo_point()) {
    result.mutable_geo_point_value()->set_latitude(point->latitude);
    result.mutable_geo_point_value()->set_longitude(point->longitude);
  } else if (const client::Array* array = value.array()) {
    result.mutable_array_value();
    for (const client::Value& each : *array) {
      *result.mutable_array_value()->add_values() = ToProto(each);
    }
  } else if (const client::Vector* vector = value.vector()) {
    VectorToProto(*vector, &result);
  } else if (const client::Map* map = value.map()) {
    auto& fields = *result.mutable_map_value()->mutable_fields();
    for (const auto& [name, each] : *map) fields[name] = ToProto(each);
  }
  return result;
}

Result<client::Timestamp> ToClient(const Time& time) {
  if (time.nanos() % 1'000 != 0) return InvalidArgument("the client has microseconds only");
  return client::Timestamp::FromParts(time.seconds(), time.nanos());
}

Time ToProto(client::Timestamp time) {
  Time result;
  result.set_seconds(time.seconds());
  result.set_nanos(time.nanos());
  return result;
}

proto::Document ToProto(const client::DocumentSnapshot& snapshot) {
  proto::Document document;
  document.set_name(snapshot.reference().name());
  *document.mutable_create_time() = ToProto(snapshot.create_time());
  *document.mutable_update_time() = ToProto(snapshot.update_time());
  auto& fields = *document.mutable_fields();
  for (const auto& [name, value] : snapshot.Data()) fields[name] = ToProto(value);
  return document;
}

}  // namespace hearth::cases
