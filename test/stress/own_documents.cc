#include "stress/own_documents.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hearth::stress {
namespace {

constexpr size_t kDocuments = 16;
constexpr size_t kTogetherMax = 8;

Weight RandomWeight(Random& random) {
  if (OneIn(random, 40)) return Weight::kHeavy;
  return OneIn(random, 4) ? Weight::kMedium : Weight::kLight;
}

}  // namespace

OwnDocuments::OwnDocuments(size_t client) : states_(kDocuments) {
  for (size_t i = 0; i < kDocuments; ++i) {
    const std::string id = "c" + std::to_string(client) + "-" + std::to_string(i);
    paths_.push_back(i % 4 == 3 ? "owners/" + id + "/deeper/" + id : "own/" + id);
  }
}

void OwnDocuments::Step(const Session& session) {
  if (OneIn(session.random, 6)) return CheckOne(session);
  Carry(session, MakePlan(session));
}

OwnDocuments::Plan OwnDocuments::MakePlan(const Session& session) {
  Plan plan;
  std::vector<size_t> documents(kDocuments);
  std::iota(documents.begin(), documents.end(), 0);
  std::shuffle(documents.begin(), documents.end(), session.random);
  documents.resize(OneIn(session.random, 3) ? 2 + Below(session.random, kTogetherMax - 1) : 1);
  for (const size_t document : documents) AddWrite(session, document, &plan);
  // On the last one, so that a refusal has earlier writes to undo.
  if (OneIn(session.random, 3)) AddPrecondition(session.random, documents.back(), &plan);
  return plan;
}

void OwnDocuments::AddWrite(const Session& session, size_t document, Plan* plan) {
  Random& random = session.random;
  const State& before = states_[document];
  if (OneIn(random, 5)) {
    AddDelete(paths_[document], &plan->request);
    plan->after[document] = std::nullopt;
    return;
  }
  Content content{session.referee.NewStamp(RandomWeight(random)),
                  static_cast<int64_t>(Below(random, 1000))};
  proto::Write* write = AddSet(paths_[document], content, &plan->request);
  if (OneIn(random, 3)) {  // The count continues from its previous value.
    const auto amount = static_cast<int64_t>(1 + Below(random, 9));
    write->mutable_update()->mutable_fields()->erase("count");
    write->mutable_update_mask()->add_field_paths("stamp");
    write->mutable_update_mask()->add_field_paths("payload");
    AddIncrement(amount, write);
    content.count = (before ? before->content.count : 0) + amount;
  }
  plan->after[document] = content;
}

void OwnDocuments::AddPrecondition(Random& random, size_t document, Plan* plan) {
  proto::Write* write = plan->request.mutable_writes(plan->request.writes_size() - 1);
  const State& before = states_[document];
  const bool holds = !OneIn(random, 4);
  if (before && OneIn(random, 2)) {
    const auto stale = static_cast<int64_t>(before->update_time) - (holds ? 0 : 1);
    SetTime(Time{stale}, write->mutable_current_document()->mutable_update_time());
    if (!holds) plan->expected = Code::kFailedPrecondition;
    return;
  }
  write->mutable_current_document()->set_exists(before.has_value() == holds);
  if (!holds) plan->expected = before ? Code::kAlreadyExists : Code::kNotFound;
}

void OwnDocuments::Carry(const Session& session, const Plan& plan) {
  const CommitAnswer answer = Commit(session, plan.request, {plan.expected});
  if (answer.kind == CommitAnswer::Kind::kUnknown) {
    unanswered_ = plan;
    return;
  }
  if (answer.refused()) return;
  if (plan.expected != Code::kOk) {
    return session.referee.Fail("a commit whose precondition does not hold was acknowledged");
  }
  for (const auto& [document, content] : plan.after) {
    states_[document] = content ? State({*content, answer.time}) : std::nullopt;
  }
  if (OneIn(session.random, 100)) {
    session.referee.Remember(Snapshot(answer.time), session.random);
  }
}

void OwnDocuments::CheckOne(const Session& session) {
  const size_t document = Below(session.random, kDocuments);
  const Result<proto::Document> got = session.client.Get(paths_[document]);
  if (session.client.is_lost()) return;
  ++session.referee.counts.reads;
  State found;
  if (got.ok()) {
    const Result<Seen> seen = Decode(*got);
    if (!seen.ok()) return session.referee.Fail(seen.status().ToString());
    found = *seen;
  } else if (got.status().code() != Code::kNotFound) {
    return session.referee.Fail("a GetDocument failed: " + got.status().ToString());
  }
  if (found != states_[document]) {
    session.referee.Fail(paths_[document] + " was acknowledged as: " + ToString(states_[document]) +
                         "; GetDocument says: " + ToString(found));
  }
}

World OwnDocuments::Snapshot(Time time) const {
  World world{time, {}};
  for (size_t i = 0; i < kDocuments; ++i) world.documents[paths_[i]] = states_[i];
  return world;
}

Status OwnDocuments::Compare(const World& world, const Plan* plan) const {
  std::optional<Time> commit_time;
  for (size_t i = 0; i < kDocuments; ++i) {
    const State& found = world.at(paths_[i]);
    State wanted = states_[i];
    const bool is_touched = plan != nullptr && plan->after.contains(i);
    if (is_touched) {
      const std::optional<Content>& after = plan->after.at(i);
      if (after && found) commit_time = commit_time.value_or(found->update_time);
      wanted = after ? State({*after, commit_time.value_or(Time{})}) : std::nullopt;
    }
    if (found != wanted) {
      return DataLoss(paths_[i] + " should be: " + ToString(wanted) +
                      "; found: " + ToString(found));
    }
    const bool is_too_early =
        is_touched && found && states_[i] && found->update_time <= states_[i]->update_time;
    if (is_too_early) return DataLoss(paths_[i] + " has an update time that went back");
  }
  return Status();
}

Status OwnDocuments::Verify(const World& world, Referee& referee) {
  Status unchanged = Compare(world, nullptr);
  if (!unchanged.ok() && unanswered_) {
    const Status changed = Compare(world, &*unanswered_);
    if (!changed.ok()) {
      return DataLoss("an unanswered commit neither happened (" + changed.message() +
                      ") nor did not (" + unchanged.message() + ")");
    }
    ++referee.counts.happened_unanswered;
    unchanged = Status();
  }
  if (!unchanged.ok()) return unchanged;
  for (size_t i = 0; i < kDocuments; ++i) states_[i] = world.at(paths_[i]);
  unanswered_.reset();
  return Status();
}

}  // namespace hearth::stress
