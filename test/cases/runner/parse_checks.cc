#include <array>
#include <utility>

#include "base/status_macros.h"
#include "cases/runner/check.h"
#include "cases/runner/parse.h"

namespace hearth::cases {
namespace {

constexpr std::string_view kAttributes[] = {"commit_time",
                                            "update_time",
                                            "create_time",
                                            "read_time",
                                            "size",
                                            "page_token",
                                            "transaction",
                                            "id",
                                            "results_returned",
                                            "read_operations",
                                            "documents_scanned",
                                            "index_entries_scanned",
                                            "indexes_used",
                                            "resume_token",
                                            "field",
                                            "result"};

bool NextIsAttribute(Scanner& scanner) {
  for (const std::string_view name : kAttributes) {
    if (scanner.NextIsWord(name)) return true;
  }
  return false;
}

Code ReadCode(Scanner& scanner) {
  const std::string name = scanner.Word();
  for (int i = 0; i <= static_cast<int>(Code::kUnauthenticated); ++i) {
    const Code code = static_cast<Code>(i);
    if (CodeName(code) == name) return code;
  }
  scanner.Fail("'" + name + "' is no code such as NOT_FOUND");
  return Code::kOk;
}

// "NOT_FOUND", with "exact words" or /a pattern/ or neither.
ExpectedStatus ReadStatus(Scanner& scanner, const Scope& scope) {
  ExpectedStatus status{ReadCode(scanner)};
  if (NextIsText(scanner)) {
    status.message = scope.Substitute(ReadText(scanner));
  } else if (scanner.Peek() == '/') {
    status.pattern = scanner.Pattern();
  }
  return status;
}

Term ReadAttribute(Scanner& scanner) {
  Term term{Term::Kind::kAttribute};
  term.attribute = scanner.Word();
  if (term.attribute == "field") {
    scanner.Expect('(');
    term.field = ReadFieldPath(scanner);
    scanner.Expect(')');
  } else if (scanner.PeekRaw() == '[') {
    scanner.Expect('[');
    const size_t number = scanner.Count();
    if (number == 0) scanner.Fail("counting begins with 1");
    term.index = number - 1;
    scanner.Expect(']');
  }
  return term;
}

Term ReadTerm(Scanner& scanner, const Scope& scope) {
  if (NextIsAttribute(scanner)) return ReadAttribute(scanner);
  Term term;
  if (scanner.TryWord("none")) return term;
  if (NextIsText(scanner)) {
    term.kind = Term::Kind::kText;
    term.text = scope.Substitute(ReadText(scanner));
  } else if (scanner.Peek() == '$' || scanner.NextIsWord("time") || scanner.NextIsWord("now")) {
    term.kind = Term::Kind::kTime;
    term.time = ReadTime(scanner, scope);
  } else {
    term.kind = Term::Kind::kInteger;
    term.integer = scanner.Integer();
  }
  return term;
}

// "update_time = $t", "size > 3", "commit_time in microseconds", "id matches /.../"
CheckRelation ReadRelation(Scanner& scanner, const Scope& scope) {
  CheckRelation check;
  check.left = ReadTerm(scanner, scope);
  if (scanner.TryWord("in")) {
    check.relation = scanner.Word();
    if (check.relation != "milliseconds" && check.relation != "microseconds") {
      scanner.Fail("expected milliseconds or microseconds");
    }
    return check;
  }
  if (scanner.TryWord("matches")) {
    check.relation = "matches";
    check.right = {Term::Kind::kText};
    check.right.text = scanner.Pattern();
    return check;
  }
  for (const std::string_view symbol : {"=", "!=", "<=", ">=", "<", ">"}) {
    if (scanner.TrySymbol(symbol)) {
      check.relation = symbol;
      check.right = ReadTerm(scanner, scope);
      return check;
    }
  }
  scanner.FailExpecting("= != < <= > >= in or matches");
  return check;
}

CheckTransformResults ReadTransformResults(Scanner& scanner, const Scope& scope) {
  CheckTransformResults check;
  while (scanner.ok() && !scanner.AtEnd()) {
    const proto::Value value = ReadValue(scanner, scope);
    if (!value.has_array_value()) scanner.Fail("results are lists: [1, 2] for each write");
    check.results.push_back(value.array_value());
  }
  return check;
}

CheckUpdateTimes ReadUpdateTimes(Scanner& scanner, const Scope& scope) {
  CheckUpdateTimes check;
  while (scanner.ok() && !scanner.AtEnd()) check.times.push_back(ReadTerm(scanner, scope));
  return check;
}

CheckStatuses ReadStatuses(Scanner& scanner, const Scope& scope) {
  CheckStatuses check;
  while (scanner.ok() && !scanner.AtEnd()) check.statuses.push_back(ReadStatus(scanner, scope));
  return check;
}

CheckAggregates ReadAggregates(Scanner& scanner, const Scope& scope) {
  CheckAggregates check;
  do {
    check.values.push_back(ReadValue(scanner, scope));
  } while (scanner.Try(',') && scanner.ok());
  return check;
}

CheckIds ReadIds(Scanner& scanner) {
  CheckIds check;
  while (scanner.ok() && !scanner.AtEnd()) check.ids.push_back(ReadPath(scanner));
  return check;
}

// A document that does not exist.
ExpectedDocument MissingDocument(const Request* request) {
  const auto* get = request ? std::get_if<proto::GetDocumentRequest>(request) : nullptr;
  return {get != nullptr ? get->name() : "", std::nullopt, true};
}

void ReadExpectation(Scanner& scanner, const Scope& scope, const Request* request, Check* check) {
  const bool is_aggregate =
      request && std::holds_alternative<proto::RunAggregationQueryRequest>(*request);
  const bool is_list = request && std::holds_alternative<proto::ListCollectionIdsRequest>(*request);
  if (NextIsAttribute(scanner) || scanner.Peek() == '$') {
    check->what = ReadRelation(scanner, scope);
  } else if (scanner.TryWord("results")) {
    check->what = ReadTransformResults(scanner, scope);
  } else if (scanner.TryWord("update_times")) {
    check->what = ReadUpdateTimes(scanner, scope);
  } else if (scanner.TryWord("statuses")) {
    check->what = ReadStatuses(scanner, scope);
  } else if (scanner.TryWord("nothing")) {
    if (is_list) {
      check->what = CheckIds{};
    } else {
      check->what = CheckDocuments{};
    }
  } else if (is_aggregate) {
    check->what = ReadAggregates(scanner, scope);
  } else if (is_list) {
    check->what = ReadIds(scanner);
  } else if (scanner.Peek() == '{' || scanner.NextIsWord("fields")) {
    check->what = CheckFields{ReadDocumentData(scanner, scope)};
  } else if (scanner.NextIsToken("missing")) {
    scanner.TryWord("missing");
    check->what = CheckDocuments{{MissingDocument(request)}};
  } else {
    check->what = CheckDocuments{ReadExpectedDocuments(scanner, scope, {})};
  }
}

// For writes.
bool IsAboutUpdateTimes(const Check& check) {
  const auto* relation = std::get_if<CheckRelation>(&check.what);
  if (!relation) return std::holds_alternative<CheckUpdateTimes>(check.what);
  return relation->left.attribute == "update_time" || relation->right.attribute == "update_time";
}

}  // namespace

Result<Check> ParseCheck(const Statement& statement, const Scope& scope, const Request* request) {
  const std::string text = statement.Joined();
  Check check{statement.head.number, text, CheckOk{}};
  Scanner scanner(text);
  if (scanner.TryWord("error")) {
    check.what = CheckError{ReadStatus(scanner, scope)};
  } else if (scanner.TryWord("expect")) {
    if (scanner.AtEnd()) scanner.FailExpecting("what to expect");
    ReadExpectation(scanner, scope, request, &check);
  } else if (!scanner.TryWord("ok")) {
    scanner.FailExpecting("error, expect or ok");
  }
  RETURN_IF_ERROR(Finish(scanner, statement.head.number));
  return check;
}

// "keep update_time[2] as t", "keep resume_token of L as t"
Result<Keep> ParseKeep(const Statement& statement, const Scope&) {
  const std::string text = statement.Joined();
  Scanner scanner(text);
  scanner.Word();
  Keep keep;
  if (!NextIsAttribute(scanner)) scanner.FailExpecting("a part of the answer such as commit_time");
  keep.term = ReadAttribute(scanner);
  if (scanner.TryWord("of")) keep.listener = scanner.Word();
  if (!scanner.TryWord("as")) scanner.FailExpecting("as");
  keep.name = scanner.Word();
  if (keep.term.attribute == "page_token" || keep.term.attribute == "resume_token") {
    keep.kind = Variable::Kind::kToken;
  } else if (keep.term.attribute == "transaction") {
    keep.kind = Variable::Kind::kTransaction;
  }
  RETURN_IF_ERROR(Finish(scanner, statement.head.number));
  return keep;
}

Detail DetailOf(const Check& check, const Request* request) {
  if (std::holds_alternative<CheckTransformResults>(check.what)) return Detail::kTransformResults;
  const bool is_batch = request && std::holds_alternative<proto::BatchWriteRequest>(*request);
  if (is_batch && IsAboutUpdateTimes(check)) return Detail::kBatchTimes;
  const auto is_hidden = [](const Term& term) {
    return term.attribute == "commit_time" || term.attribute == "result";
  };
  if (const auto* relation = std::get_if<CheckRelation>(&check.what)) {
    if (is_hidden(relation->left) || is_hidden(relation->right)) {
      return Detail::kCommitTime;
    }
  }
  if (const auto* times = std::get_if<CheckUpdateTimes>(&check.what)) {
    for (const Term& term : times->times) {
      if (is_hidden(term) || term.kind == Term::Kind::kNone) return Detail::kCommitTime;
    }
  }
  const auto* error = std::get_if<CheckError>(&check.what);
  if (error && is_batch) return Detail::kBatchError;
  if (error && error->status.code == Code::kNotFound && request &&
      std::holds_alternative<proto::GetDocumentRequest>(*request)) {
    return Detail::kNotFoundMessage;
  }
  return Detail::kNone;
}

}  // namespace hearth::cases
