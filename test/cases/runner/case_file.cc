#include "cases/runner/case_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/status_macros.h"
#include "base/text.h"
#include "cases/runner/scanner.h"

namespace hearth::cases {
namespace {

constexpr size_t kRepeatsMax = 5'000;
constexpr std::string_view kDoors[] = {"engine",     "grpc",     "rest",
                                       "webchannel", "embedded", "remote"};

std::string_view FirstWord(std::string_view text) {
  return text.substr(0, std::min(text.find_first_of(" \t"), text.size()));
}

using Names = std::map<std::string, std::string>;

struct Table {
  int line = 0;
  std::vector<std::string> names;
  struct Row {
    int line;
    std::vector<std::string> cells;
  };
  std::vector<Row> rows;
};

// The cells of a row; "\|" is a literal bar.
std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> cells(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\\|")) {
      cells.back() += text[++i];
    } else if (text[i] == '|') {
      cells.emplace_back();
    } else {
      cells.back() += text[i];
    }
  }
  for (std::string& cell : cells) cell = std::string(Trim(cell, kWhitespace));
  return cells;
}

class Reader {
 public:
  explicit Reader(std::string path) { case_.path = std::move(path); }

  Result<Case> Read(std::string_view text) {
    RETURN_IF_ERROR(ReadHeader(text));
    RETURN_IF_ERROR(ReadStatements(text));
    for (const Statement& statement : statements_) {
      if (const Status status = Sort(statement); !status.ok()) return status;
    }
    if (actions_.empty()) return Wrong(1, "a case needs at least one step");
    return Multiply();
  }

 private:
  Status Wrong(int line, const std::string& what) const {
    return InvalidArgument(case_.path + ":" + std::to_string(line) + ": " + what);
  }

  // "# Why: ..." comes first and may span several comment lines.
  Status ReadHeader(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int number = 1; std::getline(lines, line) && line.starts_with("#"); ++number) {
      const std::string_view comment = Trim(std::string_view(line).substr(1), kWhitespace);
      if (number > 1) {
        case_.why += " " + std::string(comment);
      } else if (comment.starts_with("Why: ")) {
        case_.why = std::string(comment.substr(5));
      } else {
        break;
      }
    }
    if (case_.why.empty()) return Wrong(1, "a case begins with \"# Why: \" and its reason");
    return Status();
  }

  Status ReadStatements(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      const std::string_view trimmed = Trim(line, kWhitespace);
      if (trimmed.empty() || trimmed.starts_with("#")) continue;
      if (!std::isspace(static_cast<unsigned char>(line.front()))) {
        statements_.push_back({{number, std::string(trimmed)}, {}});
      } else if (statements_.empty()) {
        return Wrong(number, "an indented line needs a statement above it");
      } else {
        statements_.back().body.push_back({number, std::string(trimmed)});
      }
    }
    return Status();
  }

  // The kind of this statement.
  Status Sort(const Statement& statement) {
    const std::string_view verb = FirstWord(statement.head.text);
    const int line = statement.head.number;
    if (verb == "table") return AddTable(statement);
    if (verb == "only" || verb == "not") return AddDoors(statement);
    if (verb == "differs") return AddDifference(statement);
    if (statement.head.text.starts_with("emulator skip")) return AddEmulatorSkip(statement);
    if (verb == "error" || verb == "expect" || verb == "emulator" || verb == "keep") {
      if (actions_.empty()) return Wrong(line, std::string(verb) + " needs a step above it");
    }
    if (verb == "error" || verb == "expect") {
      actions_.back().checks.push_back(statement);
    } else if (verb == "emulator") {
      return AddEmulatorCheck(statement);
    } else if (verb == "keep") {
      actions_.back().keeps.push_back(statement);
    } else {
      actions_.push_back({statement, {}, {}, {}});
    }
    return Status();
  }

  Status AddTable(const Statement& statement) {
    if (!actions_.empty()) return Wrong(statement.head.number, "tables come before the steps");
    Table table{statement.head.number, Split(statement.head.text.substr(5)), {}};
    for (const Line& row : statement.body) {
      std::vector<std::string> cells = Split(row.text);
      if (cells.size() != table.names.size()) {
        return Wrong(row.number, "a row of " + std::to_string(cells.size()) +
                                     " cells in a table of " + std::to_string(table.names.size()));
      }
      table.rows.push_back({row.number, std::move(cells)});
    }
    if (table.rows.empty()) return Wrong(table.line, "a table needs rows");
    tables_.push_back(std::move(table));
    return Status();
  }

  Status AddDoors(const Statement& statement) {
    std::string text = statement.Joined();
    const bool is_only = text.starts_with("only");
    const auto reason = TakeReason(&text);
    if (!reason) return Wrong(statement.head.number, "say why: \"... because REASON\"");
    Scanner scanner(text);
    scanner.Word();
    do {
      const std::string door = scanner.Word();
      if (std::find(std::begin(kDoors), std::end(kDoors), door) == std::end(kDoors)) {
        scanner.Fail("there is no door '" + door + "'");
      }
      (is_only ? case_.only_doors : case_.not_doors).push_back(door);
    } while (scanner.Try(',') && scanner.ok());
    if (!scanner.AtEnd()) scanner.FailExpecting("a comma");
    if (!scanner.ok()) return Wrong(statement.head.number, scanner.error());
    return Status();
  }

  Status AddDifference(const Statement& statement) {
    std::string text = statement.Joined();
    case_.differs = text;
    if (!TakeReason(&text) || !text.starts_with("differs from Firestore, which ")) {
      return Wrong(statement.head.number,
                   "say how and why: \"differs from Firestore, which ... because REASON\"");
    }
    return Status();
  }

  Status AddEmulatorSkip(const Statement& statement) {
    std::string text = statement.Joined();
    case_.emulator_skip = TakeReason(&text);
    if (!case_.emulator_skip || text != "emulator skip") {
      return Wrong(statement.head.number, "say why: \"emulator skip because REASON\"");
    }
    return Status();
  }

  Status AddEmulatorCheck(Statement statement) {
    statement.head.text = statement.Joined();
    statement.body.clear();
    if (!TakeReason(&statement.head.text)) {
      return Wrong(statement.head.number, "say why it differs: \"emulator ... because REASON\"");
    }
    statement.head.text = std::string(Trim(statement.head.text.substr(8), kWhitespace));
    actions_.back().emulator_checks.push_back(std::move(statement));
    return Status();
  }

  // A column that is never used is a typing error.
  Status CheckColumns() const {
    std::string text;
    for (const Step& step : actions_) {
      text += step.action.Joined() + '\n';
      for (const auto* list : {&step.checks, &step.emulator_checks, &step.keeps}) {
        for (const Statement& statement : *list) text += statement.Joined() + '\n';
      }
    }
    for (auto table = tables_.rbegin(); table != tables_.rend(); ++table) {
      for (const std::string& name : table->names) {
        if (Expand(text, {{name, ""}}) == text) return Wrong(table->line, "nothing uses $" + name);
      }
      // May use earlier tables.
      for (const Table::Row& row : table->rows) {
        for (const std::string& cell : row.cells) text += cell + '\n';
      }
    }
    return Status();
  }

  // One variant per combination of the tables' rows.
  Result<Case> Multiply() {
    RETURN_IF_ERROR(CheckColumns());
    std::vector<std::pair<std::string, Names>> rows = {{"", {}}};
    for (const Table& table : tables_) {
      std::vector<std::pair<std::string, Names>> more;
      for (const auto& [label, names] : rows) {
        for (const Table::Row& row : table.rows) {
          more.emplace_back(label, names);
          auto& [new_label, new_names] = more.back();
          if (!new_label.empty()) new_label += "; ";
          new_label += "row at line " + std::to_string(row.line) + ":";
          for (size_t i = 0; i < row.cells.size(); ++i) {
            const std::string cell = Expand(row.cells[i], names);
            new_names[table.names[i]] = cell;
            new_label += (i == 0 ? " " : ", ") + table.names[i] + " = " + cell;
          }
        }
      }
      rows = std::move(more);
    }
    for (const auto& [label, names] : rows) {
      Variant variant{label, {}};
      for (const Step& step : actions_) {
        ASSIGN_OR_RETURN(Step expanded, ExpandStep(step, names));
        variant.steps.push_back(std::move(expanded));
      }
      case_.variants.push_back(std::move(variant));
    }
    return std::move(case_);
  }

  Result<Step> ExpandStep(const Step& step, const Names& names) const {
    Step expanded = step;
    ASSIGN_OR_RETURN(expanded.action, ExpandStatement(step.action, names));
    for (auto* list : {&expanded.checks, &expanded.emulator_checks, &expanded.keeps}) {
      for (Statement& statement : *list) {
        ASSIGN_OR_RETURN(statement, ExpandStatement(statement, names));
      }
    }
    return expanded;
  }

  Result<Statement> ExpandStatement(const Statement& statement, const Names& names) const {
    Statement expanded{{statement.head.number, Expand(statement.head.text, names)}, {}};
    for (const Line& line : statement.body) {
      const std::string text = Expand(line.text, names);
      if (FirstWord(text) != "for") {
        expanded.body.push_back({line.number, text});
        continue;
      }
      RETURN_IF_ERROR(Repeat({line.number, text}, &expanded.body));
    }
    return expanded;
  }

  // "for i in 01..20 TEXT": TEXT for every number, padded to the width of the first one.
  Status Repeat(const Line& line, std::vector<Line>* out) const {
    Scanner scanner(line.text);
    scanner.Word();
    const std::string name = scanner.Word();
    if (!scanner.TryWord("in")) scanner.FailExpecting("in");
    const std::string range = scanner.Token();
    const std::string text = scanner.Rest();
    const size_t dots = range.find("..");
    int64_t first = 0;
    int64_t last = 0;
    if (scanner.ok() &&
        (dots == std::string::npos || !ParseInteger(range.substr(0, dots), &first) ||
         !ParseInteger(range.substr(dots + 2), &last))) {
      scanner.Fail("expected numbers such as 1..500, found '" + range + "'");
    }
    if (last - first >= static_cast<int64_t>(kRepeatsMax)) scanner.Fail("too many repetitions");
    if (!scanner.ok()) return Wrong(line.number, scanner.error());
    for (int64_t i = first; i <= last; ++i) {
      std::string number = std::to_string(i);
      number.insert(0, dots > number.size() ? dots - number.size() : 0, '0');
      out->push_back({line.number, Expand(text, {{name, number}})});
    }
    return Status();
  }

  Case case_;
  std::vector<Statement> statements_;
  std::vector<Table> tables_;
  std::vector<Step> actions_;
};

}  // namespace

std::string Statement::Joined() const {
  std::string text = head.text;
  for (const Line& line : body) text += " " + line.text;
  return text;
}

bool Case::IsFor(std::string_view door) const {
  const auto has = [door](const std::vector<std::string>& doors) {
    return std::find(doors.begin(), doors.end(), door) != doors.end();
  };
  return (only_doors.empty() || has(only_doors)) && !has(not_doors);
}

Result<Case> ParseCase(const std::string& path, std::string_view text) {
  return Reader(path).Read(text);
}

Result<Case> LoadCase(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Status(Code::kNotFound, path + ": cannot be read");
  return ParseCase(path, text.str());
}

Result<std::vector<std::string>> FindCases(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
      found.push_back(path);
      continue;
    }
    if (!fs::is_directory(path, error)) {
      return Status(Code::kNotFound, path + ": no such file or folder");
    }
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".case") found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string Expand(std::string_view text, const Names& names) {
  std::string out;
  while (!text.empty()) {
    const size_t dollar = std::min(text.find('$'), text.size());
    out += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const bool has_braces = text.starts_with("${");
    const size_t begin = has_braces ? 2 : 1;
    size_t end = begin;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) {
      ++end;
    }
    const auto name = names.find(std::string(text.substr(begin, end - begin)));
    if (has_braces && end < text.size() && text[end] == '}') ++end;
    if (name == names.end()) {
      out += text.substr(0, end);
    } else {
      out += name->second;
    }
    text.remove_prefix(end);
  }
  return out;
}

std::optional<std::string> TakeReason(std::string* text) {
  static constexpr std::string_view kBecause = " because ";
  const size_t at = text->rfind(kBecause);
  if (at == std::string::npos) return std::nullopt;
  std::string reason = text->substr(at + kBecause.size());
  text->resize(at);
  return reason;
}

}  // namespace hearth::cases
