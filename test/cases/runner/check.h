// What a case requires of an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "cases/runner/action.h"
#include "cases/runner/case_file.h"
#include "cases/runner/operation.h"
#include "cases/runner/values.h"

namespace hearth::cases {

// A code, with a message, a pattern or neither.
struct ExpectedStatus {
  Code code = Code::kOk;
  std::optional<std::string> message = {};
  std::optional<std::string> pattern = {};
};

// One side of a comparison: a part of the answer, or a constant.
struct Term {
  enum class Kind : uint8_t { kAttribute, kTime, kInteger, kText, kNone };
  Kind kind = Kind::kNone;
  std::string attribute = {};
  size_t index = 0;        // Of a write or document, from 0.
  std::string field = {};  // Of the attribute "field".
  Time time = {};
  int64_t integer = 0;
  std::string text = {};
};

struct CheckOk {};
struct CheckError {
  ExpectedStatus status;
};
struct CheckFields {  // Of the only document.
  DocumentData data;
};
struct CheckDocuments {
  std::vector<ExpectedDocument> documents;
};
struct CheckIds {
  std::vector<std::string> ids;
};
struct CheckAggregates {
  std::vector<proto::Value> values;
};
struct CheckTransformResults {
  std::vector<proto::ArrayValue> results;  // One per write.
};
struct CheckUpdateTimes {
  std::vector<Term> times;  // One per write.
};
struct CheckStatuses {
  std::vector<ExpectedStatus> statuses;  // One per write.
};
struct CheckRelation {
  Term left;
  std::string relation;  // "=", "<" and so on, "milliseconds", "microseconds" or "matches".
  Term right;
};

struct Check {
  int line = 0;
  std::string text;
  std::variant<CheckOk, CheckError, CheckFields, CheckDocuments, CheckIds, CheckAggregates,
               CheckTransformResults, CheckUpdateTimes, CheckStatuses, CheckRelation>
      what;
};

// `request`: the request that was answered; null for steps that are not requests. InvalidArgument,
// with "LINE: " before the message.
Result<Check> ParseCheck(const Statement& statement, const Scope& scope, const Request* request);

// A "keep" statement: the part of an answer or of a listener to store, and its name.
struct Keep {
  Term term;
  std::string listener;  // Empty: of the answer.
  std::string name;
  Variable::Kind kind = Variable::Kind::kTime;
};
Result<Keep> ParseKeep(const Statement& statement, const Scope& scope);

// The detail that the check depends on, which only some doors report.
Detail DetailOf(const Check& check, const Request* request);

// The expected value, and the actual one.
struct Mismatch {
  std::string expected;
  std::string got;
};
std::optional<Mismatch> Compare(const Check& check, const Answer& answer, const Scope& scope);
// For steps without checks: they must succeed.
std::optional<Mismatch> CompareOk(const Answer& answer);
std::optional<Mismatch> CompareStatus(const ExpectedStatus& expected, const Status& status);
// Nullopt if the answer does not have it.
std::optional<Variable> Evaluate(const Keep& keep, const Answer& answer);

// Compares the documents of `expected` and `got`, in order.
std::optional<Mismatch> CompareDocuments(const std::vector<ExpectedDocument>& expected,
                                         const std::vector<AnsweredDocument>& got,
                                         const Scope& scope);
std::string ShowStatus(const Status& status);

}  // namespace hearth::cases
