#include <set>
#include <utility>

#include "base/status_macros.h"
#include "cases/runner/action.h"
#include "cases/runner/check.h"
#include "cases/runner/run.h"

namespace hearth::cases {
namespace {

class Rehearsal {
 public:
  Rehearsal(const Case& test, const Door* door) : test_(test), door_(door) {}

  Result<std::optional<std::string>> Run(const Variant& variant) {
    for (const Step& step : variant.steps) {
      if (Status status = Run(step); !status.ok()) {
        return InvalidArgument(test_.path + ":" + status.message() +
                               (variant.label.empty() ? "" : " (" + variant.label + ")"));
      }
    }
    return why_not_;
  }

 private:
  Status Run(const Step& step) {
    ASSIGN_OR_RETURN(const Action action, ParseAction(step.action, scope_));
    const int line = step.action.head.number;
    const Request* request = nullptr;
    if (const auto* call = std::get_if<Call>(&action)) {
      request = &call->operation.request;
      Note(call->operation);
    } else if (const auto* start = std::get_if<StartCall>(&action)) {
      Note(start->operation);
      calls_[start->name] = start->operation.request;
    } else if (const auto* finish = std::get_if<FinishCall>(&action)) {
      if (!calls_.contains(finish->name)) return Unknown(line, "call", finish->name);
      request = &calls_[finish->name];
    } else if (const auto* waits = std::get_if<CheckWaiting>(&action)) {
      if (!calls_.contains(waits->name)) return Unknown(line, "call", waits->name);
    } else {
      RETURN_IF_ERROR(NoteListener(action, line));
    }
    RETURN_IF_ERROR(CheckPlaces(step, action));
    for (const auto* checks : {&step.checks, &step.emulator_checks}) {
      for (const Statement& statement : *checks) {
        ASSIGN_OR_RETURN(const Check check, ParseCheck(statement, scope_, request));
        // The steps that follow depend on which writes of the batch have happened.
        const bool is_batch_error = DetailOf(check, request) == Detail::kBatchError;
        if (is_batch_error && Hides(Detail::kBatchError)) {
          why_not_ = "its batches do not fail as a whole";
        }
      }
    }
    for (const Statement& statement : step.keeps) {
      ASSIGN_OR_RETURN(const Keep keep, ParseKeep(statement, scope_));
      if (!keep.listener.empty() && !listeners_.contains(keep.listener)) {
        return Unknown(statement.head.number, "listener", keep.listener);
      }
      const bool is_hidden =
          keep.term.attribute == "commit_time" || keep.term.attribute == "result";
      if (is_hidden && Hides(Detail::kCommitTime)) {
        why_not_ = "it tells neither commit times nor results of transforms";
      }
      const bool is_batch = request && std::holds_alternative<proto::BatchWriteRequest>(*request);
      if (is_batch && Hides(Detail::kBatchTimes)) {
        why_not_ = "it tells no update times of batches";
      }
      scope_.variables[keep.name] = {keep.kind, {}, "kept"};
    }
    return Status();
  }

  bool Hides(Detail detail) const { return door_ && !door_->Shows(detail); }

  void Note(const Operation& operation) {
    if (!operation.new_transaction.empty()) {
      scope_.variables[operation.new_transaction] = {Variable::Kind::kTransaction, {}, "begun"};
    }
    if (door_ && !why_not_) why_not_ = door_->WhyNot(operation);
  }

  Status NoteListener(const Action& action, int line) {
    std::string name;
    if (const auto* add = std::get_if<AddListener>(&action)) {
      if (!listeners_.insert(add->name).second) {
        return InvalidArgument(std::to_string(line) + ": there is a listener " + add->name +
                               " already");
      }
      if (door_ && !why_not_) why_not_ = door_->WhyNotListen(add->target);
      return Status();
    }
    if (const auto* snapshot = std::get_if<ExpectSnapshot>(&action)) name = snapshot->name;
    if (const auto* sent = std::get_if<ExpectSent>(&action)) name = sent->name;
    if (const auto* end = std::get_if<AwaitEnd>(&action)) name = end->name;
    if (const auto* stop = std::get_if<StopListener>(&action)) name = stop->name;
    if (!name.empty() && !listeners_.contains(name)) return Unknown(line, "listener", name);
    return Status();
  }

  // Checks and keeps need an answer, except for keeps of a listener.
  static Status CheckPlaces(const Step& step, const Action& action) {
    const bool is_answered =
        std::holds_alternative<Call>(action) || std::holds_alternative<FinishCall>(action);
    const bool has_end = is_answered || std::holds_alternative<AwaitEnd>(action);
    const bool has_emulator = has_end || std::holds_alternative<ExpectSent>(action);
    const auto wrong = [](const Statement& statement) {
      return InvalidArgument(std::to_string(statement.head.number) +
                             ": the step above has no answer that this could be about");
    };
    if (!has_end && !step.checks.empty()) return wrong(step.checks.front());
    if (!has_emulator && !step.emulator_checks.empty()) return wrong(step.emulator_checks.front());
    for (const Statement& keep : step.keeps) {
      if (!is_answered && keep.head.text.find(" of ") == std::string::npos) return wrong(keep);
    }
    return Status();
  }

  static Status Unknown(int line, const std::string& kind, const std::string& name) {
    return InvalidArgument(std::to_string(line) + ": there is no " + kind + " " + name);
  }

  const Case& test_;
  const Door* const door_;
  Scope scope_{"projects/rehearsal/databases/(default)", {}};
  std::map<std::string, Request> calls_;
  std::set<std::string> listeners_;
  std::optional<std::string> why_not_;
};

}  // namespace

Result<std::optional<std::string>> Rehearse(const Case& test, const Variant& variant,
                                            const Door* door) {
  return Rehearsal(test, door).Run(variant);
}

}  // namespace hearth::cases
