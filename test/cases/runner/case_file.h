// The syntax of a case: lines, statements, tables. action.h and check.h define what statements
// mean.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hearth::cases {

struct Line {
  int number = 0;
  std::string text;  // Without leading and trailing white space.
};

// An unindented line, and the indented lines below it.
struct Statement {
  Line head;
  std::vector<Line> body;

  // Everything on one line.
  std::string Joined() const;
};

// One action, and what must be true afterwards.
struct Step {
  Statement action;
  std::vector<Statement> checks;
  std::vector<Statement> emulator_checks;  // Replace `checks` on the emulator, if not empty.
  std::vector<Statement> keeps;
};

// One run of a case: a case with tables has one per row.
struct Variant {
  std::string label;  // "line 7: path = a.b", empty without tables.
  std::vector<Step> steps;
};

struct Case {
  std::string path;
  std::string why;
  std::string differs;  // How and why it differs from Firestore; empty if it does not.
  std::vector<std::string> only_doors;
  std::vector<std::string> not_doors;
  std::optional<std::string> emulator_skip;  // Why the emulator does not run it.
  std::vector<Variant> variants;

  bool IsFor(std::string_view door) const;
};

// Errors: InvalidArgument, with "PATH:LINE: " before the message.
Result<Case> ParseCase(const std::string& path, std::string_view text);
Result<Case> LoadCase(const std::string& path);

// All *.case files below the given folders and files, sorted. NotFound if one is missing.
Result<std::vector<std::string>> FindCases(const std::vector<std::string>& paths);

// Replaces "$name" and "${name}" for each of the names.
std::string Expand(std::string_view text, const std::map<std::string, std::string>& names);

// Removes the text after the last " because " from `text` and returns it; nullopt if there is none.
std::optional<std::string> TakeReason(std::string* text);

}  // namespace hearth::cases
