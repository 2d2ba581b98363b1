// The outer form of a case: lines, statements, tables. What a statement means is for others to say.
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
  std::string text;  // Without white space around it.
};

// A line at the margin, and the indented ones below it.
struct Statement {
  Line head;
  std::vector<Line> body;

  // All on one line.
  std::string Joined() const;
};

// One thing that happens, and what must be true afterwards.
struct Step {
  Statement action;
  std::vector<Statement> checks;
  std::vector<Statement> emulator_checks;  // In the place of `checks`, where there are any.
  std::vector<Statement> keeps;
};

// One run of a case: for a case with tables there is one a row.
struct Variant {
  std::string label;  // "line 7: path = a.b", empty without tables.
  std::vector<Step> steps;
};

struct Case {
  std::string path;
  std::string why;
  std::string differs;  // From Firestore: how and why, empty where it does not.
  std::vector<std::string> only_doors;
  std::vector<std::string> not_doors;
  std::optional<std::string> emulator_skip;  // Why the emulator does not run it.
  std::vector<Variant> variants;

  bool IsFor(std::string_view door) const;
};

// Errors: InvalidArgument, with "PATH:LINE: " in front of what is wrong.
Result<Case> ParseCase(const std::string& path, std::string_view text);
Result<Case> LoadCase(const std::string& path);

// All *.case files below the folders and files given, sorted. NotFound where one is missing.
Result<std::vector<std::string>> FindCases(const std::vector<std::string>& paths);

// Replaces "$name" and "${name}" for each of the names.
std::string Expand(std::string_view text, const std::map<std::string, std::string>& names);

// What follows the last " because " is taken off `text`; nullopt where nothing does.
std::optional<std::string> TakeReason(std::string* text);

}  // namespace hearth::cases
