#include "stress/accounts.h"

#include "base/status_macros.h"

namespace hearth::stress {
namespace {

constexpr size_t kAccounts = 10;
constexpr int64_t kOpening = 1000;

}  // namespace

Accounts::Accounts() : newest_(kAccounts) {
  for (size_t i = 0; i < kAccounts; ++i) paths_.push_back("accounts/a" + std::to_string(i));
}

void Accounts::Open(const Session& session) {
  proto::CommitRequest request = NewCommit();
  std::vector<Content> contents;
  for (const std::string& path : paths_) {
    contents.push_back({session.referee.NewStamp(Weight::kLight), kOpening});
    AddSet(path, contents.back(), &request)->mutable_current_document()->set_exists(false);
  }
  const CommitAnswer answer = Commit(session, request, {});
  if (!answer.acknowledged()) return session.referee.Fail("the accounts could not be opened");
  MutexLock lock(mutex_);
  for (size_t i = 0; i < kAccounts; ++i) newest_[i].Acknowledged(answer.time, contents[i]);
}

void Accounts::Step(const Session& session) {
  if (OneIn(session.random, 6)) {
    const std::optional<World> world = Read(session, paths_);
    if (!world) return;
    if (const Status total = CheckTotal(*world); !total.ok()) session.referee.Fail(total.message());
    return;
  }
  if (const std::optional<Pair> pair = ReadPair(session)) Transfer(session, *pair);
}

std::optional<Accounts::Pair> Accounts::ReadPair(const Session& session) {
  const size_t from = Below(session.random, kAccounts);
  const size_t to = (from + 1 + Below(session.random, kAccounts - 1)) % kAccounts;
  const bool locks = OneIn(session.random, 2);
  proto::BatchGetDocumentsRequest request = NewBatchGet({paths_[from], paths_[to]});
  if (locks) request.mutable_new_transaction()->mutable_read_write();
  const auto responses = session.client.BatchGet(request);
  if (!responses.ok()) {
    const bool is_expected =
        session.client.is_lost() || (locks && responses.status().code() == Code::kAborted);
    if (!is_expected) {
      session.referee.Fail("reading accounts failed: " + responses.status().ToString());
    }
    return std::nullopt;
  }
  Result<World> world = DecodeWorld(*responses);
  const bool is_whole = world.ok() && world->documents.size() == 2 && world->at(paths_[from]) &&
                        world->at(paths_[to]) && responses->front().transaction().empty() != locks;
  if (!is_whole) {
    session.referee.Fail("reading two accounts did not answer both: " + world.status().ToString());
    return std::nullopt;
  }
  ++session.referee.counts.reads;
  return Pair{from, to, responses->front().transaction(), *std::move(world)};
}

void Accounts::Transfer(const Session& session, const Pair& pair) {
  const auto amount = static_cast<int64_t>(1 + Below(session.random, 10));
  const Stamp stamp = session.referee.NewStamp(Weight::kLight);
  const Seen& from = *pair.world.at(paths_[pair.from]);
  const Seen& to = *pair.world.at(paths_[pair.to]);
  const Content from_after{stamp, from.content.count - amount};
  const Content to_after{stamp, to.content.count + amount};
  proto::CommitRequest request = NewCommit();
  proto::Write* first = AddSet(paths_[pair.from], from_after, &request);
  proto::Write* second = AddSet(paths_[pair.to], to_after, &request);
  if (pair.transaction.empty()) {
    // The reference to the first write stays valid when the second is added.
    SetTime(from.update_time, first->mutable_current_document()->mutable_update_time());
    SetTime(to.update_time, second->mutable_current_document()->mutable_update_time());
  } else {
    request.set_transaction(pair.transaction);
  }
  const CommitAnswer answer = Commit(session, request, {Code::kAborted, Code::kFailedPrecondition});
  if (answer.refused()) return;
  {
    MutexLock lock(mutex_);
    if (!answer.acknowledged()) {
      newest_[pair.from].Unanswered(from_after);
      newest_[pair.to].Unanswered(to_after);
      return;
    }
    newest_[pair.from].Acknowledged(answer.time, from_after);
    newest_[pair.to].Acknowledged(answer.time, to_after);
  }
  if (OneIn(session.random, 20)) {
    World after{answer.time, {}};
    after.documents[paths_[pair.from]] = Seen{from_after, answer.time};
    after.documents[paths_[pair.to]] = Seen{to_after, answer.time};
    session.referee.Remember(after, session.random);
  }
}

Status Accounts::CheckTotal(const World& world) const {
  int64_t total = 0;
  for (const std::string& path : paths_) {
    if (!world.at(path)) return DataLoss(path + " is gone");
    total += world.at(path)->content.count;
  }
  if (total == kOpening * static_cast<int64_t>(kAccounts)) return Status();
  return DataLoss("the accounts' total is " + std::to_string(total));
}

Status Accounts::Verify(const World& world, Referee& referee) {
  MutexLock lock(mutex_);
  for (size_t i = 0; i < kAccounts; ++i) {
    RETURN_IF_ERROR(newest_[i].Verify(paths_[i], world.at(paths_[i]), referee));
  }
  return CheckTotal(world);
}

}  // namespace hearth::stress
