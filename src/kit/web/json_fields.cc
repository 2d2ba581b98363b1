#include "kit/web/json_fields.h"

#include <algorithm>
#include <utility>

namespace hearth::kit {
namespace {

// Limit for quoting the input in an error.
constexpr size_t kShownBytesMax = 40;

// The nesting depth of arrays and objects. Requires valid JSON.
size_t DepthOf(std::string_view text) {
  size_t depth = 0;
  size_t deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      deepest = std::max(deepest, ++depth);
    } else if (!in_string && (c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

bool StartsCharacter(char byte) { return (byte & 0xC0) != 0x80; }

size_t CharactersIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, StartsCharacter));
}

std::string Shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  std::string text =
      value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 1'000);
  if (text.size() <= kShownBytesMax) return text;
  size_t end = kShownBytesMax;
  while (end > 0 && !StartsCharacter(text[end])) --end;
  return text.substr(0, end) + "…";
}

std::string Describe(JsonFields::IntegerRange range) {
  using Limits = std::numeric_limits<int64_t>;
  const std::string min = std::to_string(range.min);
  const std::string max = std::to_string(range.max);
  if (range.min != Limits::min() && range.max != Limits::max()) {
    return "an integer from " + min + " to " + max;
  }
  if (range.min != Limits::min()) return "an integer of at least " + min;
  if (range.max != Limits::max()) return "an integer of at most " + max;
  return "an integer of 64 bits";
}

std::string Describe(JsonFields::TextRange range) {
  const std::string max = std::to_string(range.characters_max);
  if (range.characters_min == 0) return "text of at most " + max + " characters";
  return "text of " + std::to_string(range.characters_min) + " to " + max + " characters";
}

}  // namespace

Result<nlohmann::json> ParseJson(std::string_view text) {
  if (DepthOf(text) > kJsonDepthMax) {
    return InvalidArgument("the JSON is nested more than " + std::to_string(kJsonDepthMax) +
                           " deep");
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    return InvalidArgument("not valid JSON: wrong at byte " + std::to_string(error.byte));
  } catch (const nlohmann::json::exception&) {
    return InvalidArgument("not valid JSON: a number is out of range");
  }
}

JsonFields JsonFields::Parse(std::string_view body) {
  Result<nlohmann::json> json = ParseJson(body);
  if (json.ok()) return JsonFields(*std::move(json));
  JsonFields fields(nlohmann::json::object());
  fields.status_ = json.status().While("reading the body");
  return fields;
}

JsonFields::JsonFields(nlohmann::json object) {
  if (object.is_object()) {
    object_ = std::move(object);
  } else {
    status_ = InvalidArgument("expected a JSON object, not " + Shown(object));
  }
}

const nlohmann::json* JsonFields::Find(std::string_view name) {
  if (std::ranges::find(asked_, name) == asked_.end()) asked_.emplace_back(name);
  if (!status_.ok()) return nullptr;
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const nlohmann::json* JsonFields::Require(std::string_view name) {
  const nlohmann::json* value = Find(name);
  if (value == nullptr && status_.ok()) {
    status_ = InvalidArgument(std::string(name) + " is missing");
  }
  return value;
}

void JsonFields::Refuse(std::string_view name, const std::string& wanted,
                        const nlohmann::json& value) {
  if (!status_.ok()) return;
  status_ = InvalidArgument(std::string(name) + " must be " + wanted + ", not " + Shown(value));
}

int64_t JsonFields::ToInteger(std::string_view name, const nlohmann::json& value,
                              IntegerRange range) {
  using Limits = std::numeric_limits<int64_t>;
  const bool too_large =
      value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(Limits::max());
  if (value.is_number_integer() && !too_large) {
    const int64_t number = value.get<int64_t>();
    if (number >= range.min && number <= range.max) return number;
  }
  Refuse(name, Describe(range), value);
  return 0;
}

std::string JsonFields::ToText(std::string_view name, const nlohmann::json& value,
                               TextRange range) {
  if (!value.is_string()) {
    Refuse(name, Describe(range), value);
    return {};
  }
  const auto& text = value.get_ref<const std::string&>();
  const size_t characters = CharactersIn(text);
  if (characters >= range.characters_min && characters <= range.characters_max) return text;
  if (status_.ok()) {
    status_ = InvalidArgument(std::string(name) + " must be " + Describe(range) + ", not " +
                              std::to_string(characters));
  }
  return {};
}

int64_t JsonFields::Integer(std::string_view name, IntegerRange range) {
  const nlohmann::json* value = Require(name);
  return value == nullptr ? 0 : ToInteger(name, *value, range);
}

std::optional<int64_t> JsonFields::OptionalInteger(std::string_view name, IntegerRange range) {
  const nlohmann::json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  return ToInteger(name, *value, range);
}

double JsonFields::Number(std::string_view name) {
  const nlohmann::json* value = Require(name);
  if (value == nullptr) return 0;
  if (value->is_number()) return value->get<double>();
  Refuse(name, "a number", *value);
  return 0;
}

bool JsonFields::Boolean(std::string_view name) {
  const nlohmann::json* value = Require(name);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  Refuse(name, "true or false", *value);
  return false;
}

std::string JsonFields::Text(std::string_view name, TextRange range) {
  const nlohmann::json* value = Require(name);
  return value == nullptr ? std::string() : ToText(name, *value, range);
}

std::optional<std::string> JsonFields::OptionalText(std::string_view name, TextRange range) {
  const nlohmann::json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  return ToText(name, *value, range);
}

nlohmann::json JsonFields::Raw(std::string_view name) {
  const nlohmann::json* value = Find(name);
  return value == nullptr ? nlohmann::json() : *value;
}

void JsonFields::RefuseOthers() {
  if (!status_.ok()) return;
  for (const auto& [name, value] : object_.items()) {
    if (std::ranges::find(asked_, name) != asked_.end()) continue;
    status_ = InvalidArgument("unknown field " + Shown(name));
    return;
  }
}

}  // namespace hearth::kit
