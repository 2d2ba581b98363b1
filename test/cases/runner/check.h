// What a case says must be true of an answer.
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

// A code, and a message, a pattern or neither.
struct ExpectedStatus {
  Code code = Code::kOk;
  std::optional<std::string> message = {};
  std::optional<std::string> pattern = {};
};

// One side of a comparison: something of the answer, or a constant.
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
  std::vector<proto::ArrayValue> results;  // One a write.
};
struct CheckUpdateTimes {
  std::vector<Term> times;  // One a write.
};
struct CheckStatuses {
  std::vector<ExpectedStatus> statuses;  // One a write.
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

// `request`: what the answer is to; null for steps that are no requests. InvalidArgument, with
// "LINE: " in front of what is wrong.
Result<Check> ParseCheck(const Statement& statement, const Scope& scope, const Request* request);

// A "keep" statement: what of an answer is to be remembered, or of a listener, and as what.
struct Keep {
  Term term;
  std::string listener;  // Empty: of the answer.
  std::string name;
  Variable::Kind kind = Variable::Kind::kTime;
};
Result<Keep> ParseKeep(const Statement& statement, const Scope& scope);

// What only some doors can tell.
Detail DetailOf(const Check& check, const Request* request);

// What was wanted, and what there is instead.
struct Mismatch {
  std::string expected;
  std::string got;
};
std::optional<Mismatch> Compare(const Check& check, const Answer& answer, const Scope& scope);
// For steps without a check of their own: they must succeed.
std::optional<Mismatch> CompareOk(const Answer& answer);
std::optional<Mismatch> CompareStatus(const ExpectedStatus& expected, const Status& status);
// Nullopt where the answer has no such thing.
std::optional<Variable> Evaluate(const Keep& keep, const Answer& answer);

// The documents of `expected` and `got`, in order.
std::optional<Mismatch> CompareDocuments(const std::vector<ExpectedDocument>& expected,
                                         const std::vector<AnsweredDocument>& got,
                                         const Scope& scope);
std::string ShowStatus(const Status& status);

}  // namespace hearth::cases
