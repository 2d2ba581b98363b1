#include "cases/runner/show.h"

#include <google/protobuf/util/message_differencer.h>
#include <google/protobuf/util/time_util.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/base64.h"

namespace hearth::cases {
namespace {

constexpr size_t kShownMax = 1'500;

std::string ShowDouble(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  char buffer[32];
  const auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), number);
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

bool SameDouble(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

bool SameArray(const proto::ArrayValue& a, const proto::ArrayValue& b) {
  if (a.values_size() != b.values_size()) return false;
  for (int i = 0; i < a.values_size(); ++i) {
    if (!SameValue(a.values(i), b.values(i))) return false;
  }
  return true;
}

std::string ShowArray(const proto::ArrayValue& array, const Scope& scope) {
  std::string text;
  for (const proto::Value& value : array.values()) {
    text += (text.empty() ? "" : ", ") + ShowValue(value, scope);
  }
  return text;
}

}  // namespace

std::string Shorten(std::string text) {
  if (text.size() <= kShownMax) return text;
  const size_t left_out = text.size() - kShownMax;
  return text.substr(0, kShownMax / 2) + " [" + std::to_string(left_out) + " bytes more] " +
         text.substr(text.size() - kShownMax / 2);
}

std::string ShowText(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ShowTime(const Time& time) {
  using google::protobuf::util::TimeUtil;
  const bool is_valid = time.seconds() >= TimeUtil::kTimestampMinSeconds &&
                        time.seconds() <= TimeUtil::kTimestampMaxSeconds && time.nanos() >= 0 &&
                        time.nanos() < 1'000'000'000;
  if (is_valid) return TimeUtil::ToString(time);
  return "time(" + std::to_string(time.seconds()) + ", " + std::to_string(time.nanos()) + ")";
}

std::string ShowFields(const Fields& fields, const Scope& scope) {
  std::string text;
  for (const auto& [name, value] : std::map(fields.begin(), fields.end())) {
    text += (text.empty() ? "" : ", ") + ShowText(name) + ": " + ShowValue(value, scope);
  }
  return "{" + text + "}";
}

std::string ShowValue(const proto::Value& value, const Scope& scope) {
  switch (value.value_type_case()) {
    case proto::Value::kNullValue:
      return "null";
    case proto::Value::kBooleanValue:
      return value.boolean_value() ? "true" : "false";
    case proto::Value::kIntegerValue:
      return std::to_string(value.integer_value());
    case proto::Value::kDoubleValue:
      return ShowDouble(value.double_value());
    case proto::Value::kTimestampValue:
      return "time(\"" + ShowTime(value.timestamp_value()) + "\")";
    case proto::Value::kStringValue:
      return ShowText(value.string_value());
    case proto::Value::kBytesValue:
      return "bytes(\"" + EncodeBase64(value.bytes_value()) + "\")";
    case proto::Value::kReferenceValue:
      return "ref(" + ShowText(scope.PathOf(value.reference_value())) + ")";
    case proto::Value::kGeoPointValue:
      return "geo(" + ShowDouble(value.geo_point_value().latitude()) + ", " +
             ShowDouble(value.geo_point_value().longitude()) + ")";
    case proto::Value::kArrayValue:
      return "[" + ShowArray(value.array_value(), scope) + "]";
    case proto::Value::kMapValue:
      return ShowFields(value.map_value().fields(), scope);
    default:
      return "unset";
  }
}

bool SameFields(const Fields& a, const Fields& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end() || !SameValue(value, other->second)) return false;
  }
  return true;
}

bool SameValue(const proto::Value& a, const proto::Value& b) {
  if (a.value_type_case() != b.value_type_case()) return false;
  switch (a.value_type_case()) {
    case proto::Value::kDoubleValue:
      return SameDouble(a.double_value(), b.double_value());
    case proto::Value::kGeoPointValue:
      return SameDouble(a.geo_point_value().latitude(), b.geo_point_value().latitude()) &&
             SameDouble(a.geo_point_value().longitude(), b.geo_point_value().longitude());
    case proto::Value::kArrayValue:
      return SameArray(a.array_value(), b.array_value());
    case proto::Value::kMapValue:
      return SameFields(a.map_value().fields(), b.map_value().fields());
    default:
      return google::protobuf::util::MessageDifferencer::Equals(a, b);
  }
}

}  // namespace hearth::cases
