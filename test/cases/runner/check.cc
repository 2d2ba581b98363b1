#include "cases/runner/check.h"

#include <algorithm>
#include <compare>
#include <regex>

#include "base/mutex.h"
#include "cases/runner/show.h"
#include "model/field_path.h"

namespace hearth::cases {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;

// Whether any part of `text` matches the pattern.
bool Contains(const std::string& text, const std::string& pattern) {
  // Compiling a regex fills a locale table in libstdc++, which does not lock it.
  static Mutex mutex;
  const std::regex compiled = [&] {
    MutexLock lock(mutex);
    return std::regex(pattern);
  }();
  return std::regex_search(text, compiled);
}

// The value of a term: none, a number, a time or a text.
struct Value {
  Term::Kind kind = Term::Kind::kNone;
  std::pair<int64_t, int32_t> time = {};
  int64_t integer = 0;
  std::string text = {};
};

Value OfTime(const Time& time) { return {Term::Kind::kTime, {time.seconds(), time.nanos()}}; }
Value OfTime(const std::optional<Time>& time) { return time ? OfTime(*time) : Value(); }
Value OfInteger(int64_t number) { return {Term::Kind::kInteger, {}, number}; }
Value OfText(const std::string& text) {
  return text.empty() ? Value() : Value{Term::Kind::kText, {}, 0, text};
}

const proto::Document* DocumentAt(const Answer& answer, size_t index) {
  if (index >= answer.documents.size() || !answer.documents[index].document) return nullptr;
  return &*answer.documents[index].document;
}

Value UpdateTime(const Answer& answer, size_t index) {
  if (index < answer.write_results.size()) {
    const proto::WriteResult& result = answer.write_results[index];
    return result.has_update_time() ? OfTime(result.update_time()) : Value();
  }
  const proto::Document* document = DocumentAt(answer, index);
  return document && document->has_update_time() ? OfTime(document->update_time()) : Value();
}

Value CreateTime(const Answer& answer, size_t index) {
  const proto::Document* document = DocumentAt(answer, index);
  return document && document->has_create_time() ? OfTime(document->create_time()) : Value();
}

// The timestamp in the document's field.
Value FieldTime(const Answer& answer, const std::string& path) {
  const proto::Document* document = DocumentAt(answer, 0);
  const auto parsed = model::FieldPath::Parse(path);
  if (document == nullptr || !parsed.ok()) return {};
  const Fields* fields = &document->fields();
  const proto::Value* value = nullptr;
  for (const std::string& name : parsed->segments()) {
    const auto found = fields->find(name);
    if (found == fields->end()) return {};
    value = &found->second;
    fields = &value->map_value().fields();
  }
  return value && value->has_timestamp_value() ? OfTime(value->timestamp_value()) : Value();
}

// The result of the first transform of a write, if it is a timestamp.
Value ResultTime(const Answer& answer, size_t index) {
  if (index >= answer.write_results.size()) return {};
  const auto& results = answer.write_results[index].transform_results();
  if (results.empty() || !results[0].has_timestamp_value()) return {};
  return OfTime(results[0].timestamp_value());
}

std::string DebugStat(const proto::ExecutionStats& stats, const std::string& name) {
  const auto& fields = stats.debug_stats().fields();
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second.string_value();
}

Value ExplainValue(const Answer& answer, const std::string& attribute) {
  if (!answer.explain) return {};
  if (attribute == "indexes_used") {
    return OfInteger(answer.explain->plan_summary().indexes_used_size());
  }
  if (!answer.explain->has_execution_stats()) return {};
  const proto::ExecutionStats& stats = answer.explain->execution_stats();
  if (attribute == "results_returned") return OfInteger(stats.results_returned());
  if (attribute == "read_operations") return OfInteger(stats.read_operations());
  int64_t number = 0;
  return ParseInteger(DebugStat(stats, attribute), &number) ? OfInteger(number) : Value();
}

Value Evaluate(const Term& term, const Answer& answer) {
  switch (term.kind) {
    case Term::Kind::kNone:
      return {};
    case Term::Kind::kTime:
      return OfTime(term.time);
    case Term::Kind::kInteger:
      return OfInteger(term.integer);
    case Term::Kind::kText:
      return OfText(term.text);
    case Term::Kind::kAttribute:
      break;
  }
  if (term.attribute == "commit_time") return OfTime(answer.commit_time);
  if (term.attribute == "read_time") return OfTime(answer.read_time);
  if (term.attribute == "update_time") return UpdateTime(answer, term.index);
  if (term.attribute == "create_time") return CreateTime(answer, term.index);
  if (term.attribute == "field") return FieldTime(answer, term.field);
  if (term.attribute == "result") return ResultTime(answer, term.index);
  if (term.attribute == "page_token") return OfText(answer.next_page_token);
  if (term.attribute == "transaction") return OfText(answer.transaction);
  if (term.attribute == "size") {
    return OfInteger(static_cast<int64_t>(std::max(
        {answer.documents.size(), answer.collection_ids.size(), answer.write_results.size()})));
  }
  if (term.attribute == "id") {
    if (term.index >= answer.documents.size()) return {};
    const std::string& name = answer.documents[term.index].name;
    return OfText(name.substr(name.rfind('/') + 1));
  }
  return ExplainValue(answer, term.attribute);
}

std::string Show(const Value& value) {
  switch (value.kind) {
    case Term::Kind::kTime: {
      Time time;
      time.set_seconds(value.time.first);
      time.set_nanos(value.time.second);
      return ShowTime(time);
    }
    case Term::Kind::kInteger:
      return std::to_string(value.integer);
    case Term::Kind::kText:
      return ShowText(value.text);
    default:
      return "none";
  }
}

bool Holds(const Value& left, const std::string& relation, const Value& right) {
  if (relation == "microseconds" || relation == "milliseconds") {
    const int64_t unit = relation == "microseconds" ? kNanosPerMicro : kNanosPerMilli;
    return left.kind == Term::Kind::kTime && left.time.second % unit == 0;
  }
  if (relation == "matches") {
    return left.kind == Term::Kind::kText && Contains(left.text, right.text);
  }
  if (left.kind != right.kind) return relation == "!=";
  const auto order = std::tie(left.time, left.integer, left.text) <=>
                     std::tie(right.time, right.integer, right.text);
  if (relation == "=") return order == 0;
  if (relation == "!=") return order != 0;
  if (relation == "<") return order < 0;
  if (relation == "<=") return order <= 0;
  if (relation == ">") return order > 0;
  return order >= 0;
}

std::string ShowExpected(const ExpectedStatus& status) {
  std::string text(CodeName(status.code));
  if (status.message) text += " " + ShowText(*status.message);
  if (status.pattern) text += " /" + *status.pattern + "/";
  return text;
}

std::string ShowDocument(const ExpectedDocument& document, const Scope& scope) {
  std::string text = scope.PathOf(document.name);
  if (document.is_missing) text += " missing";
  if (document.data) text += " " + ShowFields(document.data->fields, scope);
  return text;
}

// Shows as much of the document as `expected` specifies, to make the difference visible.
std::string ShowDocument(const AnsweredDocument& document, const ExpectedDocument* expected,
                         const Scope& scope) {
  std::string text = scope.PathOf(document.name);
  if (!document.document) return text + " missing";
  if (expected == nullptr || expected->data || expected->is_missing) {
    text += " " + ShowFields(document.document->fields(), scope);
  }
  return text;
}

bool Matches(const ExpectedDocument& expected, const AnsweredDocument& got) {
  if (expected.name != got.name || expected.is_missing == got.document.has_value()) return false;
  return !expected.data || SameFields(expected.data->fields, got.document->fields());
}

std::string ShowArrays(const std::vector<proto::ArrayValue>& arrays, const Scope& scope) {
  std::string text;
  for (const proto::ArrayValue& array : arrays) {
    proto::Value value;
    *value.mutable_array_value() = array;
    text += (text.empty() ? "" : " ") + ShowValue(value, scope);
  }
  return text;
}

std::optional<Mismatch> Differ(std::string expected, std::string got) {
  return Mismatch{Shorten(std::move(expected)), Shorten(std::move(got))};
}

std::optional<Mismatch> CompareFields(const CheckFields& check, const Answer& answer,
                                      const Scope& scope) {
  const std::string expected = ShowFields(check.data.fields, scope);
  if (answer.documents.size() != 1) {
    return Differ(expected, std::to_string(answer.documents.size()) + " documents");
  }
  const auto& document = answer.documents.front().document;
  if (!document) return Differ(expected, "missing");
  if (SameFields(check.data.fields, document->fields())) return std::nullopt;
  return Differ(expected, ShowFields(document->fields(), scope));
}

std::optional<Mismatch> CompareIds(const CheckIds& check, const Answer& answer) {
  if (check.ids == answer.collection_ids) return std::nullopt;
  const auto join = [](const std::vector<std::string>& ids) {
    std::string text;
    for (const std::string& id : ids) text += (text.empty() ? "" : " ") + id;
    return text.empty() ? "nothing" : text;
  };
  return Differ(join(check.ids), join(answer.collection_ids));
}

std::optional<Mismatch> CompareAggregates(const CheckAggregates& check, const Answer& answer,
                                          const Scope& scope) {
  const auto show = [&scope](const std::vector<proto::Value>& values) {
    std::string text;
    for (const proto::Value& value : values) {
      text += (text.empty() ? "" : ", ") + ShowValue(value, scope);
    }
    return text;
  };
  if (std::equal(check.values.begin(), check.values.end(), answer.aggregates.begin(),
                 answer.aggregates.end(), SameValue)) {
    return std::nullopt;
  }
  return Differ(show(check.values), show(answer.aggregates));
}

std::optional<Mismatch> CompareResults(const CheckTransformResults& check, const Answer& answer,
                                       const Scope& scope) {
  std::vector<proto::ArrayValue> got;
  for (const proto::WriteResult& result : answer.write_results) {
    proto::ArrayValue array;
    for (const proto::Value& value : result.transform_results()) *array.add_values() = value;
    got.push_back(array);
  }
  const auto same = [](const proto::ArrayValue& a, const proto::ArrayValue& b) {
    return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end(),
                      SameValue);
  };
  if (std::equal(check.results.begin(), check.results.end(), got.begin(), got.end(), same)) {
    return std::nullopt;
  }
  return Differ(ShowArrays(check.results, scope), ShowArrays(got, scope));
}

std::optional<Mismatch> CompareUpdateTimes(const CheckUpdateTimes& check, const Answer& answer) {
  std::string expected;
  std::string got;
  for (const Term& term : check.times) expected += " " + Show(Evaluate(term, answer));
  for (size_t i = 0; i < answer.write_results.size(); ++i) got += " " + Show(UpdateTime(answer, i));
  if (expected == got) return std::nullopt;
  return Differ(expected, got);
}

std::optional<Mismatch> CompareStatuses(const CheckStatuses& check, const Answer& answer) {
  if (check.statuses.size() != answer.write_statuses.size()) {
    return Differ(std::to_string(check.statuses.size()) + " statuses",
                  std::to_string(answer.write_statuses.size()));
  }
  for (size_t i = 0; i < check.statuses.size(); ++i) {
    auto mismatch = CompareStatus(check.statuses[i], answer.write_statuses[i]);
    if (!mismatch) continue;
    mismatch->expected = "write " + std::to_string(i + 1) + ": " + mismatch->expected;
    return mismatch;
  }
  return std::nullopt;
}

std::optional<Mismatch> CompareRelation(const CheckRelation& check, const Answer& answer) {
  const Value left = Evaluate(check.left, answer);
  const Value right = Evaluate(check.right, answer);
  if (Holds(left, check.relation, right)) return std::nullopt;
  const std::string what = check.left.kind == Term::Kind::kAttribute ? check.left.attribute : "it";
  if (check.right.kind == Term::Kind::kNone && check.relation.ends_with("seconds")) {
    return Differ(what + " in " + check.relation, Show(left));
  }
  return Differ(what + " " + check.relation + " " + Show(right), Show(left));
}

}  // namespace

std::string ShowStatus(const Status& status) {
  if (status.ok()) return "OK";
  return std::string(CodeName(status.code())) + " " + ShowText(status.message());
}

std::optional<Mismatch> CompareStatus(const ExpectedStatus& expected, const Status& status) {
  bool is_same = expected.code == status.code();
  if (expected.message) is_same &= *expected.message == status.message();
  if (expected.pattern) {
    is_same &= Contains(status.message(), *expected.pattern);
  }
  if (is_same) return std::nullopt;
  return Differ(ShowExpected(expected), ShowStatus(status));
}

std::optional<Mismatch> CompareOk(const Answer& answer) {
  if (answer.status.ok()) return std::nullopt;
  return Differ("OK", ShowStatus(answer.status));
}

std::optional<Mismatch> CompareDocuments(const std::vector<ExpectedDocument>& expected,
                                         const std::vector<AnsweredDocument>& got,
                                         const Scope& scope) {
  if (std::equal(expected.begin(), expected.end(), got.begin(), got.end(), Matches)) {
    return std::nullopt;
  }
  std::string expected_text;
  std::string got_text;
  for (const ExpectedDocument& document : expected) {
    expected_text += "\n    " + ShowDocument(document, scope);
  }
  for (size_t i = 0; i < got.size(); ++i) {
    got_text +=
        "\n    " + ShowDocument(got[i], i < expected.size() ? &expected[i] : nullptr, scope);
  }
  return Differ(expected.empty() ? "nothing" : expected_text, got.empty() ? "nothing" : got_text);
}

std::optional<Mismatch> Compare(const Check& check, const Answer& answer, const Scope& scope) {
  if (const auto* error = std::get_if<CheckError>(&check.what)) {
    return CompareStatus(error->status, answer.status);
  }
  // A missing document is an error for GetDocument, but a state in cases.
  const bool is_missing = answer.status.code() == Code::kNotFound && !answer.documents.empty() &&
                          std::holds_alternative<CheckDocuments>(check.what);
  if (auto failed = CompareOk(answer); failed && !is_missing) return failed;
  if (const auto* fields = std::get_if<CheckFields>(&check.what)) {
    return CompareFields(*fields, answer, scope);
  }
  if (const auto* documents = std::get_if<CheckDocuments>(&check.what)) {
    return CompareDocuments(documents->documents, answer.documents, scope);
  }
  if (const auto* ids = std::get_if<CheckIds>(&check.what)) return CompareIds(*ids, answer);
  if (const auto* values = std::get_if<CheckAggregates>(&check.what)) {
    return CompareAggregates(*values, answer, scope);
  }
  if (const auto* results = std::get_if<CheckTransformResults>(&check.what)) {
    return CompareResults(*results, answer, scope);
  }
  if (const auto* times = std::get_if<CheckUpdateTimes>(&check.what)) {
    return CompareUpdateTimes(*times, answer);
  }
  if (const auto* statuses = std::get_if<CheckStatuses>(&check.what)) {
    return CompareStatuses(*statuses, answer);
  }
  if (const auto* relation = std::get_if<CheckRelation>(&check.what)) {
    return CompareRelation(*relation, answer);
  }
  return std::nullopt;
}

std::optional<Variable> Evaluate(const Keep& keep, const Answer& answer) {
  const Value value = Evaluate(keep.term, answer);
  Variable variable;
  variable.kind = keep.kind;
  if (keep.kind != Variable::Kind::kTime && value.kind == Term::Kind::kText) {
    variable.bytes = value.text;
  } else if (keep.kind == Variable::Kind::kTime && value.kind == Term::Kind::kTime) {
    variable.time.set_seconds(value.time.first);
    variable.time.set_nanos(value.time.second);
  } else {
    return std::nullopt;
  }
  return variable;
}

}  // namespace hearth::cases
