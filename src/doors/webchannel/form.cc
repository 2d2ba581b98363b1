#include "doors/webchannel/form.h"

namespace hearth::doors::webchannel {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> Decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      if (text.size() - i < 3) return std::nullopt;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return decoded;
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
