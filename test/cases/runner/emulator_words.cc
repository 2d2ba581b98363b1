#include "cases/runner/emulator_words.h"

#include <regex>
#include <string>
#include <string_view>

namespace hearth::cases {
namespace {

constexpr std::string_view kLaterVersion =
    "Invalid base version, it is greater than the stored version: ";

// Converts `path < element { type: "rooms" name: "a" } ... >`, the emulator's notation of a key, to
// rooms/a.
std::string PathOfElements(const std::string& text) {
  static const std::regex element(R"re(type: "([^"]*)"\s+(?:name: "([^"]*)"|id: (-?\d+)))re");
  std::string path;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), element);
       it != std::sregex_iterator(); ++it) {
    if (!path.empty()) path += '/';
    path += (*it)[1].str() + "/";
    path += (*it)[2].matched ? (*it)[2].str() : "__id" + (*it)[3].str() + "__";
  }
  return path;
}

}  // namespace

Status InTheCloudsWords(const Status& status, const Scope& scope) {
  const std::string& message = status.message();
  static const std::regex exists(
      R"re(^entity already exists: EntityRef\{partitionRef=[^,]*, path=/(.*)\}$)re");
  static const std::regex missing(R"re(^Document \((.*)\) not found\.$)re");
  std::smatch match;
  if (message.starts_with("no entity to update: ")) {
    return Status(status.code(), "No document to update: " + scope.NameOf(PathOfElements(message)));
  }
  if (message.starts_with(kLaterVersion)) {
    return Status(status.code(),
                  std::string(kLaterVersion) + scope.NameOf(PathOfElements(message)));
  }
  if (std::regex_match(message, match, exists)) {
    return Status(status.code(), "Document already exists: " + scope.NameOf(match[1].str()));
  }
  if (std::regex_match(message, match, missing)) {
    return Status(status.code(), "Document \"" + match[1].str() + "\" not found.");
  }
  if (message == "Transaction is invalid or closed.") {
    return Status(status.code(), "The referenced transaction has expired or is no longer valid.");
  }
  return status;
}

}  // namespace hearth::cases
