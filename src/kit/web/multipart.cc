#include "kit/web/multipart.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "base/text.h"
#include "base/utf8.h"

namespace hearth::kit {
namespace {

constexpr size_t kBoundaryBytesMax = 70;          // RFC 2046, 5.1.1.
constexpr size_t kPartHeaderBytesMax = 8 * 1024;  // All fields of one part.

// The text before the first ';', and the parameters after it: `form-data; name="a"; filename=b`.
struct FieldValue {
  std::string_view value;
  std::vector<std::pair<std::string_view, std::string>> parameters = {};

  std::optional<std::string> Find(std::string_view name) const {
    for (const auto& [known, text] : parameters) {
      if (EqualsIgnoringCase(known, name)) return text;
    }
    return std::nullopt;
  }
};

// Reads quoted text after its opening quote. Browsers write "%22" for a quote; other clients escape
// it with a backslash. Before any other character a backslash is literal: some clients send a path.
std::optional<std::string> TakeQuoted(std::string_view& rest) {
  std::string text;
  while (!rest.empty()) {
    char next = rest.front();
    rest.remove_prefix(1);
    if (next == '"') return text;
    if (next == '\\' && (rest.starts_with('"') || rest.starts_with('\\'))) {
      next = rest.front();
      rest.remove_prefix(1);
    }
    text.push_back(next);
  }
  return std::nullopt;
}

// nullopt if malformed.
std::optional<FieldValue> ParseFieldValue(std::string_view text) {
  const size_t end = text.find(';');
  FieldValue field = {.value = Trim(text.substr(0, end))};
  std::string_view rest = end == std::string_view::npos ? "" : text.substr(end);
  while (!rest.empty()) {
    if (!rest.starts_with(';')) return std::nullopt;
    rest = Trim(rest.substr(1));
    if (rest.empty()) break;  // A trailing ';' is allowed.
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = Trim(rest.substr(0, equals));
    rest = Trim(rest.substr(equals + 1));
    std::string value;
    if (rest.starts_with('"')) {
      rest.remove_prefix(1);
      std::optional<std::string> quoted = TakeQuoted(rest);
      if (!quoted) return std::nullopt;
      value = std::move(*quoted);
      rest = Trim(rest);
    } else {
      const size_t value_end = std::min(rest.find(';'), rest.size());
      value = Trim(rest.substr(0, value_end));
      rest.remove_prefix(value_end);
    }
    field.parameters.emplace_back(name, std::move(value));
  }
  return field;
}

Result<std::string> ReadBoundary(std::string_view content_type) {
  const std::optional<FieldValue> field = ParseFieldValue(content_type);
  if (!field || !EqualsIgnoringCase(field->value, "multipart/form-data")) {
    return InvalidArgument("the content-type is not multipart/form-data");
  }
  std::optional<std::string> boundary = field->Find("boundary");
  if (!boundary || boundary->empty() || boundary->size() > kBoundaryBytesMax) {
    return InvalidArgument("the content-type has no boundary of 1 to 70 characters");
  }
  return *std::move(boundary);
}

Status ReadPartField(std::string_view line, FormPart& part) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return InvalidArgument("a part has a malformed header");
  const std::string_view name = Trim(line.substr(0, colon));
  const std::string_view value = Trim(line.substr(colon + 1));
  if (EqualsIgnoringCase(name, "content-type")) {
    part.content_type = value;
  } else if (EqualsIgnoringCase(name, "content-disposition")) {
    const std::optional<FieldValue> field = ParseFieldValue(value);
    if (!field || !EqualsIgnoringCase(field->value, "form-data") || !field->Find("name")) {
      return InvalidArgument("a part's content-disposition is not form-data with a name");
    }
    part.name = *field->Find("name");
    part.file_name = field->Find("filename").value_or("");
    if (!IsValidUtf8(part.name) || !IsValidUtf8(part.file_name)) {
      return InvalidArgument("a part's name is not UTF-8");
    }
  }
  return {};
}

// Reads the header fields of a part and the empty line after them, and removes them from `rest`.
Result<FormPart> TakePartHead(std::string_view& rest) {
  FormPart part;
  const size_t size_before = rest.size();
  while (true) {
    const size_t end = rest.find("\r\n");
    if (end == std::string_view::npos) return InvalidArgument("the form ends within a part");
    if (size_before - rest.size() + end > kPartHeaderBytesMax) {
      return InvalidArgument("a part's headers are larger than " +
                             std::to_string(kPartHeaderBytesMax) + " bytes");
    }
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    if (line.empty()) break;
    RETURN_IF_ERROR(ReadPartField(line, part));
  }
  if (part.name.empty()) return InvalidArgument("a part has no name");
  return part;
}

// Whether a delimiter ends here; content may begin like one.
bool EndsDelimiter(std::string_view behind) {
  if (behind.starts_with("--")) return true;
  const size_t end = behind.find_first_not_of(kSpaceOrTab);
  return end != std::string_view::npos && behind.substr(end).starts_with("\r\n");
}

// npos if not found.
size_t FindDelimiter(std::string_view body, std::string_view delimiter) {
  size_t at = body.find(delimiter);
  while (at != std::string_view::npos && !EndsDelimiter(body.substr(at + delimiter.size()))) {
    at = body.find(delimiter, at + 1);
  }
  return at;
}

}  // namespace

Result<std::vector<FormPart>> ParseMultipart(std::string_view content_type, std::string_view body,
                                             size_t parts_max) {
  ASSIGN_OR_RETURN(const std::string boundary, ReadBoundary(content_type));
  const std::string delimiter = "\r\n--" + boundary;
  // The first delimiter needs no line break before it at the start of the body.
  const std::string_view first = std::string_view(delimiter).substr(2);
  std::string_view rest = body;
  if (body.starts_with(first) && EndsDelimiter(body.substr(first.size()))) {
    rest.remove_prefix(first.size());
  } else {
    const size_t begin = FindDelimiter(body, delimiter);
    if (begin == std::string_view::npos) return InvalidArgument("the form contains no boundary");
    rest.remove_prefix(begin + delimiter.size());
  }

  std::vector<FormPart> parts;
  while (!rest.starts_with("--")) {
    if (parts.size() == parts_max) {
      return InvalidArgument("the form has more than " + std::to_string(parts_max) + " parts");
    }
    rest.remove_prefix(rest.find("\r\n") + 2);  // EndsDelimiter has found it.
    ASSIGN_OR_RETURN(FormPart part, TakePartHead(rest));
    const size_t end = FindDelimiter(rest, delimiter);
    if (end == std::string_view::npos) return InvalidArgument("the form ends within a part");
    part.content = rest.substr(0, end);
    rest.remove_prefix(end + delimiter.size());
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace hearth::kit
