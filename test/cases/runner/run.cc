#include "cases/runner/run.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "cases/runner/action.h"
#include "cases/runner/check.h"
#include "cases/runner/emulator_words.h"
#include "cases/runner/show.h"

namespace hearth::cases {
namespace {

// This many commits are made to check that a request is waiting.
constexpr int kCommitsMeanwhile = 3;

struct Listener {
  int target_id = 0;
  Results checked = {};  // The results as of the last check.
};

class Run {
 public:
  Run(const Case& test, const Variant& variant, const std::string& door_name, Door& door,
      const std::string& database)
      : test_(test),
        variant_(variant),
        door_name_(door_name),
        door_(door),
        scope_{database, {}},
        session_(door.Open(database)),
        watch_(scope_) {}

  Outcome Go() {
    for (const Step& step : variant_.steps) {
      answer_ = Answer();
      request_.reset();
      Do(step);
      if (!answer_.not_possible.empty()) return {Outcome::Kind::kSkipped, answer_.not_possible};
      if (!has_failed_) CheckStep(step);
      if (!has_failed_) KeepOf(step);
      if (has_failed_) return outcome_;
    }
    return outcome_;
  }

 private:
  void Fail(int line, const std::string& text, const Step& step, const Mismatch& mismatch) {
    has_failed_ = true;
    outcome_.kind = Outcome::Kind::kFailed;
    std::string out =
        test_.path + ":" + std::to_string(line) + ": " + door_name_ + ": " + Shorten(text) + "\n";
    if (!variant_.label.empty()) out += "  of        " + Shorten(variant_.label) + "\n";
    if (step.action.head.number != line) {
      out += "  after     line " + std::to_string(step.action.head.number) + ": " +
             Shorten(step.action.Joined()) + "\n";
    }
    outcome_.text =
        out + "  expected  " + mismatch.expected + "\n  got       " + mismatch.got + "\n";
  }
  void Fail(const Step& step, const Mismatch& mismatch) {
    Fail(step.action.head.number, step.action.Joined(), step, mismatch);
  }

  void Do(const Step& step) {
    const Result<Action> action = ParseAction(step.action, scope_);
    if (!action.ok()) return Fail(step, {"a statement", action.status().message()});
    std::visit([&](const auto& each) { Do(step, each); }, *action);
  }

  void Do(const Step& step, const Call& call) {
    Take(call.operation, session_->Start(call.operation));
    if (call.operation.is_all_pages) TakeOtherPages(step, call.operation);
  }
  void Do(const Step&, const StartCall& start) {
    calls_[start.name] = {start.operation, session_->Start(start.operation)};
  }
  // Commits are executed in order of arrival: a commit that does not wait is answered before those
  // that follow it.
  void Do(const Step& step, const CheckWaiting& waits) {
    Operation other;
    auto& commit = other.request.emplace<proto::CommitRequest>();
    commit.set_database(scope_.database);
    commit.add_writes()->set_delete_(scope_.NameOf("meanwhile/m"));
    for (int i = 0; i < kCommitsMeanwhile; ++i) session_->Start(other)->Wait();
    if (!calls_.contains(waits.name) || !calls_[waits.name].pending->IsDone()) return;
    const auto call = calls_.extract(waits.name);
    answer_ = call.mapped().pending->Wait();
    if (!answer_.not_possible.empty()) return;
    Fail(step, {"no answer yet", ShowStatus(answer_.status)});
  }
  void Do(const Step& step, const FinishCall& finish) {
    auto call = calls_.extract(finish.name);
    if (call.empty()) return Fail(step, {"a call under way", "it was finished already"});
    Take(call.mapped().operation, std::move(call.mapped().pending));
  }

  // Waits for an answer and stores its times and ids.
  void Take(const Operation& operation, std::unique_ptr<Pending> pending) {
    request_ = operation.request;
    answer_ = pending->Wait();
    if (door_.is_emulator()) {
      answer_.status = InTheCloudsWords(answer_.status, scope_);
      for (Status& status : answer_.write_statuses) status = InTheCloudsWords(status, scope_);
    }
    if (!operation.new_transaction.empty() && answer_.status.ok()) {
      scope_.variables[operation.new_transaction] = {
          Variable::Kind::kTransaction, {}, answer_.transaction};
    }
    const bool is_write = std::holds_alternative<proto::CommitRequest>(*request_) ||
                          std::holds_alternative<proto::BatchWriteRequest>(*request_) ||
                          std::holds_alternative<proto::CreateDocumentRequest>(*request_) ||
                          std::holds_alternative<proto::UpdateDocumentRequest>(*request_);
    if (!is_write) return;
    if (answer_.commit_time) NoteCommit(*answer_.commit_time);
    for (const proto::WriteResult& result : answer_.write_results) NoteCommit(result.update_time());
    for (const AnsweredDocument& each : answer_.documents) {
      if (each.document) NoteCommit(each.document->update_time());
    }
  }
  // Adds the pages after the first one to the answer.
  void TakeOtherPages(const Step& step, Operation operation) {
    const size_t size_max = SetPageToken("", &operation.request);
    Answer all = std::exchange(answer_, Answer());
    std::string token = all.next_page_token;
    size_t size = all.documents.size() + all.collection_ids.size();
    while (all.status.ok() && size <= size_max && !token.empty()) {
      SetPageToken(token, &operation.request);
      Take(operation, session_->Start(operation));
      all.status = answer_.status;
      size = answer_.documents.size() + answer_.collection_ids.size();
      std::move(answer_.documents.begin(), answer_.documents.end(),
                std::back_inserter(all.documents));
      std::move(answer_.collection_ids.begin(), answer_.collection_ids.end(),
                std::back_inserter(all.collection_ids));
      token = answer_.next_page_token;
    }
    answer_ = std::move(all);
    if (size > size_max) {
      Fail(step, {"pages of at most " + std::to_string(size_max), std::to_string(size)});
    }
  }
  // Returns the request's page size.
  static size_t SetPageToken(const std::string& token, Request* request) {
    if (auto* list = std::get_if<proto::ListDocumentsRequest>(request)) {
      list->set_page_token(token);
      return static_cast<size_t>(list->page_size());
    }
    if (auto* list = std::get_if<proto::ListCollectionIdsRequest>(request)) {
      list->set_page_token(token);
      return static_cast<size_t>(list->page_size());
    }
    auto& partition = std::get<proto::PartitionQueryRequest>(*request);
    partition.set_page_token(token);
    return static_cast<size_t>(partition.page_size());
  }

  void NoteCommit(const Time& time) { newest_commit_ = std::max(newest_commit_, Micros(time)); }

  void Do(const Step&, const AddListener& add) {
    if (!streams_) streams_ = session_->Listen();
    Listener& listener = listeners_[add.name];
    listener.target_id = next_target_id_ += 2;
    proto::Target target = add.target;
    target.set_target_id(listener.target_id);
    listener.checked =
        known_[target.has_read_time() ? KeyOf(target.read_time()) : target.resume_token()];
    watch_.Begin(listener.target_id, listener.checked);
    answer_.not_possible = streams_->Add(target).value_or("");
  }

  // Reads until `met` holds for the listener's target, or it has ended. False, with a failure, at
  // the time limit.
  template <typename Condition>
  bool Advance(const Step& step, const Listener& listener, const Condition& met) {
    while (true) {
      const TargetState& target = watch_.target(listener.target_id);
      if (met(target) || target.removed) return true;
      const Status status = streams_->Advance(&watch_);
      if (status.ok()) continue;
      Fail(step, {"news of the listener", ShowStatus(status)});
      return false;
    }
  }

  void Do(const Step& step, const ExpectSnapshot& expected) {
    Listener& listener = listeners_[expected.name];
    // A commit that does not affect a listener sends it nothing to wait for.
    const bool has_changes =
        !expected.added.empty() || !expected.modified.empty() || !expected.removed.empty();
    const auto is_there = [&](const TargetState& target) {
      if (!target.snapshot_time) return false;
      return !has_changes || (Micros(*target.snapshot_time) >= newest_commit_ &&
                              !IsSame(listener.checked, target.snapshot));
    };
    if (!Advance(step, listener, is_there)) return;
    const TargetState& target = watch_.target(listener.target_id);
    if (!is_there(target)) {
      return Fail(step, {"a snapshot", "the listener ended: " + ShowStatus(*target.removed)});
    }
    const Results before = std::exchange(listener.checked, target.snapshot);
    CheckSnapshot(step, expected, before, target);
  }

  // The same documents in the same versions.
  static bool IsSame(const Results& a, const Results& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
      return x.first == y.first && Micros(x.second.update_time()) == Micros(y.second.update_time());
    });
  }

  void CheckSnapshot(const Step& step, const ExpectSnapshot& expected, const Results& before,
                     const TargetState& target) {
    std::vector<AnsweredDocument> added, modified, removed, all;
    for (const auto& [name, document] : target.snapshot) {
      const auto old = before.find(name);
      if (old == before.end()) {
        added.push_back({name, document});
      } else if (Micros(old->second.update_time()) != Micros(document.update_time())) {
        modified.push_back({name, document});
      }
      all.push_back({name, document});
    }
    for (const auto& [name, document] : before) {
      if (!target.snapshot.contains(name)) removed.push_back({name, document});
    }
    CheckPart(step, "added", expected.added, added);
    CheckPart(step, "modified", expected.modified, modified);
    CheckPart(step, "removed", expected.removed, removed);
    if (!expected.documents) return;
    if (target.order.empty()) return CheckPart(step, "documents", *expected.documents, all);
    std::vector<AnsweredDocument> in_order;
    for (const std::string& name : target.order) {
      in_order.push_back({name, target.snapshot.at(name)});
    }
    if (auto mismatch = CompareDocuments(*expected.documents, in_order, scope_)) {
      Fail(step, *mismatch);
    }
  }

  // Compares in name order: a stream does not define any other order.
  void CheckPart(const Step& step, const std::string& what, std::vector<ExpectedDocument> expected,
                 const std::vector<AnsweredDocument>& got) {
    if (has_failed_) return;
    std::sort(expected.begin(), expected.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    auto mismatch = CompareDocuments(expected, got, scope_);
    if (!mismatch) return;
    mismatch->expected = what + " " + mismatch->expected;
    Fail(step, *mismatch);
  }

  void Do(const Step& step, const ExpectSent& expected) {
    TargetState& target = watch_.target(listeners_[expected.name].target_id);
    std::vector<std::string> got = std::exchange(target.messages, {});
    if (!door_.Shows(Detail::kMessages)) {
      ++outcome_.unseen_checks;
      return;
    }
    std::vector<std::string> wanted = expected.messages;
    std::sort(got.begin(), got.end());
    std::sort(wanted.begin(), wanted.end());
    const bool is_checked = !(door_.is_emulator() && !step.emulator_checks.empty());
    if (got == wanted || !is_checked) return;
    const auto join = [](const std::vector<std::string>& list) {
      std::string text;
      for (const std::string& each : list) text += "\n    " + each;
      return list.empty() ? std::string("nothing") : text;
    };
    Fail(step, {join(wanted), join(got)});
  }

  // `error` lines give the listener's expected end; without one it must end with OK.
  void Do(const Step& step, const AwaitEnd& await) {
    const Listener& listener = listeners_[await.name];
    const auto never = [](const TargetState&) { return false; };
    if (!Advance(step, listener, never)) return;
    answer_.status = *watch_.target(listener.target_id).removed;
    if (door_.is_emulator()) answer_.status = InTheCloudsWords(answer_.status, scope_);
  }

  void Do(const Step& step, const StopListener& stop) {
    const Listener& listener = listeners_[stop.name];
    streams_->Remove(listener.target_id);
    Advance(step, listener, [](const TargetState&) { return false; });
  }

  void Do(const Step&, const Disconnect&) { streams_.reset(); }

  void CheckStep(const Step& step) {
    const bool has_own = door_.is_emulator() && !step.emulator_checks.empty();
    const std::vector<Statement>& statements = has_own ? step.emulator_checks : step.checks;
    const Request* request = request_ ? &*request_ : nullptr;
    if (statements.empty()) {
      if (const auto mismatch = CompareOk(answer_)) Fail(step, *mismatch);
      return;
    }
    for (const Statement& statement : statements) {
      const Result<Check> check = ParseCheck(statement, scope_, request);
      if (!check.ok()) return Fail(step, {"a check", check.status().message()});
      const auto mismatch = CompareSeen(*check, request);
      if (mismatch) return Fail(check->line, check->text, step, *mismatch);
    }
  }

  // Compares if the door reports what the check is about.
  std::optional<Mismatch> CompareSeen(const Check& check, const Request* request) {
    const Detail detail = DetailOf(check, request);
    if (door_.Shows(detail)) return Compare(check, answer_, scope_);
    if (detail == Detail::kNotFoundMessage) {
      const Check missing{check.line, check.text,
                          CheckDocuments{{{std::get<proto::GetDocumentRequest>(*request).name(),
                                           std::nullopt, true}}}};
      return Compare(missing, answer_, scope_);
    }
    ++outcome_.unseen_checks;
    return CompareOk(answer_);
  }

  void KeepOf(const Step& step) {
    for (const Statement& statement : step.keeps) {
      const Result<Keep> keep = ParseKeep(statement, scope_);
      if (!keep.ok()) return Fail(step, {"a keep", keep.status().message()});
      const auto variable = keep->listener.empty() ? Evaluate(*keep, answer_) : OfListener(*keep);
      if (!variable) {
        return Fail(statement.head.number, statement.Joined(), step,
                    {keep->term.attribute, "the answer has none"});
      }
      scope_.variables[keep->name] = *variable;
    }
  }

  std::optional<Variable> OfListener(const Keep& keep) {
    const Listener& listener = listeners_[keep.listener];
    const TargetState& target = watch_.target(listener.target_id);
    if (keep.term.attribute == "resume_token") {
      known_[target.resume_token] = target.snapshot;
      return Variable{Variable::Kind::kToken, {}, target.resume_token};
    }
    if (keep.term.attribute != "read_time" || !target.snapshot_time) return std::nullopt;
    known_[KeyOf(*target.snapshot_time)] = target.snapshot;
    return Variable{Variable::Kind::kTime, *target.snapshot_time, {}};
  }

  static std::string KeyOf(const Time& time) { return "at " + std::to_string(Micros(time)); }

  struct StartedCall {
    Operation operation;
    std::unique_ptr<Pending> pending;
  };

  const Case& test_;
  const Variant& variant_;
  const std::string& door_name_;
  Door& door_;
  Scope scope_;
  const std::unique_ptr<Session> session_;
  std::map<std::string, StartedCall> calls_;
  WatchState watch_;
  std::unique_ptr<Listeners> streams_;
  std::map<std::string, Listener> listeners_;
  // The client's state by the point from which it can resume: a resume token, or a time.
  std::map<std::string, Results> known_;
  int next_target_id_ = 0;
  int64_t newest_commit_ = 0;
  // Of the current step.
  std::optional<Request> request_;
  Answer answer_;
  bool has_failed_ = false;
  Outcome outcome_;
};

}  // namespace

Outcome RunVariant(const Case& test, const Variant& variant, const std::string& door_name,
                   Door& door, const std::string& database) {
  return Run(test, variant, door_name, door, database).Go();
}

}  // namespace hearth::cases
