#include "doors/webchannel/form.h"

#include "http/percent.h"

namespace hearth::doors::webchannel {
namespace {

std::optional<std::string> Decode(std::string_view text) {
  return http::DecodePercent(text, {.plus_is_space = true});
}

}  // namespace

std::optional<Form> Form::Parse(std::string_view text, size_t fields_max) {
  Form form;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find('&'));
    text.remove_prefix(field.size() == text.size() ? field.size() : field.size() + 1);
    if (field.empty()) continue;
    if (form.fields_.size() == fields_max) return std::nullopt;
    const std::string_view name = field.substr(0, field.find('='));
    std::optional<std::string> decoded_name = Decode(name);
    std::optional<std::string> value =
        Decode(name.size() == field.size() ? "" : field.substr(name.size() + 1));
    if (!decoded_name || !value) return std::nullopt;
    form.fields_.emplace_back(*std::move(decoded_name), *std::move(value));
  }
  return form;
}

std::optional<std::string_view> Form::Find(std::string_view name) const {
  for (const auto& [field_name, value] : fields_) {
    if (field_name == name) return value;
  }
  return std::nullopt;
}

}  // namespace hearth::doors::webchannel
