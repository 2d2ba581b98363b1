// Many threads take locks at random. A referee checks that no owner holds a lock that another one
// excludes, and that every request is answered although no wait ever times out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/testing/fake_clock.h"
#include "base/testing/outcome.h"
#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "query/testing/query_builder.h"
#include "request/testing/writes.h"
#include "transactions/lock_table.h"

namespace hearth::transactions {
namespace {

constexpr size_t kKeys = 6;  // Half of them start with "a", half with "b".

std::string KeyName(size_t key) { return (key % 2 == 0 ? "a" : "b") + std::to_string(key); }

// Whether a write of this key could make it a result of a query; writes of other keys cannot.
bool MayBeResult(size_t key) { return key % 3 == 0; }

// What an owner holds through one request.
struct Hold {
  LockScope scope;
  LockMode mode;
  bool is_narrowed = false;

  // Whether it excludes other owners that want the key in mode `wanted`.
  bool Excludes(size_t key, LockMode wanted) const {
    // Readers share, and so do writers, which the committer orders.
    if (mode == wanted && mode != LockMode::kUpdate) return false;
    const std::string name = KeyName(key);
    if (std::ranges::find(scope.document_keys, name) != scope.document_keys.end()) return true;
    if (is_narrowed && wanted == LockMode::kWrite && !MayBeResult(key)) return false;
    return std::ranges::any_of(scope.key_prefixes,
                               [&](const KeyPrefix& prefix) { return prefix.Covers(name); });
  }
};

// Which keys a scope covers.
std::array<bool, kKeys> Covered(const LockScope& scope) {
  std::array<bool, kKeys> covered{};
  for (size_t key = 0; key < kKeys; ++key) {
    for (const std::string& name : scope.document_keys) covered[key] |= name == KeyName(key);
    for (const KeyPrefix& prefix : scope.key_prefixes) {
      covered[key] |= prefix.Covers(KeyName(key));
    }
  }
  return covered;
}

// Keeps its own record of the locks held. Owners report a lock after they got it and before they
// release it, so a recorded lock is held unless the owner has lost.
class Referee {
 public:
  explicit Referee(const LockTable& locks) : locks_(locks) {}

  void Wants(LockOwner owner) {
    MutexLock lock(mutex_);
    ++accounts_[owner].waiting;
  }

  void Answered(LockOwner owner, const LockScope& scope, LockMode mode, const Status& status) {
    MutexLock lock(mutex_);
    Account& account = accounts_[owner];
    --account.waiting;
    if (status.code() == Code::kCancelled) return;  // The owner keeps what it has.
    if (!status.ok()) {
      EXPECT_EQ(status.code(), Code::kAborted);
      EXPECT_TRUE(locks_.HasLost(owner));
      return;
    }
    const auto covered = Covered(scope);
    for (size_t key = 0; key < kKeys; ++key) {
      if (covered[key]) CheckNobodyExcludes(owner, mode, key);
    }
    account.granted.push_back({scope, mode});
  }

  void Narrows(LockOwner owner, size_t request) {
    MutexLock lock(mutex_);
    accounts_[owner].granted.at(request).is_narrowed = true;
  }

  // The owner's granted locks, in the order of the answers.
  std::vector<Hold> HeldBy(LockOwner owner) {
    MutexLock lock(mutex_);
    return accounts_[owner].granted;
  }

  void GivesUp(LockOwner owner) {
    MutexLock lock(mutex_);
    EXPECT_EQ(accounts_[owner].waiting, 0u);
    accounts_.erase(owner);
  }

 private:
  struct Account {
    std::vector<Hold> granted;
    size_t waiting = 0;
  };

  // If two owners exclude each other, one must have lost its locks.
  void CheckNobodyExcludes(LockOwner owner, LockMode mode, size_t key) REQUIRES_LOCK(mutex_) {
    for (const auto& [other, account] : accounts_) {
      if (other == owner) continue;
      const bool excludes = std::ranges::any_of(
          account.granted, [&](const Hold& granted) { return granted.Excludes(key, mode); });
      if (!excludes) continue;
      EXPECT_TRUE(locks_.HasLost(other) || locks_.HasLost(owner)) << "two owners hold key " << key;
    }
  }

  const LockTable& locks_;
  Mutex mutex_;
  std::map<LockOwner, Account> accounts_ GUARDED_BY(mutex_);
};

// Lets threads sleep until any request is answered.
class Progress {
 public:
  size_t answers() {
    MutexLock lock(mutex_);
    return answers_;
  }
  void Note() {
    MutexLock lock(mutex_);
    ++answers_;
    changed_.NotifyAll();
  }
  void AwaitMoreThan(size_t answers) {
    MutexLock lock(mutex_);
    while (answers_ <= answers) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  size_t answers_ GUARDED_BY(mutex_) = 0;
};

// The table under test, and its observers.
struct Arena {
  FakeClock clock{1'000'000};
  LockTable locks{clock, std::chrono::seconds(5)};
  Referee referee{locks};
  const model::DatabaseName database = NameDatabase();
  const std::shared_ptr<const watch::LiveQuery> query =
      std::make_shared<const watch::LiveQuery>(database, query::QueryBuilder("a").Build());
  std::atomic<uint64_t> next_owner = 1;
  std::atomic<size_t> finished = 0;
  std::atomic<size_t> lost = 0;
  Progress progress;
};

// Plays one owner after another: some requests one by one or at once, then the end of the owner.
class Actor {
 public:
  explicit Actor(Arena& arena) : arena_(arena) { Begin(); }

  // False if an answer has to come first.
  bool Move(Dice& dice) {
    const bool all_answered = std::ranges::all_of(requests_, &Outcome<Status>::IsThere);
    if (all_answered && dice.OneIn(8)) {
      Narrow();
      return true;
    }
    if (all_answered && dice.OneIn(40)) {
      arena_.locks.Yield({IdleOwner{owner_, IdleOwner::YieldsTo::kRetries}});
      return true;
    }
    if (requests_left_ > 0 && (all_answered || dice.OneIn(4))) {
      if (all_answered) lost_ |= TakeAnswers();
      if (lost_) {
        End();
      } else {
        --requests_left_;
        Request(dice);
      }
      return true;
    }
    if (!all_answered) {
      if (dice.OneIn(100)) arena_.locks.Cancel(newest_);
      return false;
    }
    lost_ |= TakeAnswers();
    End();
    return true;
  }

  // No new requests: the actor ends after the requests in progress.
  void Retire() {
    requests_left_ = 0;
    is_retiring_ = true;
  }
  bool has_ended() const { return has_ended_; }

 private:
  // An owner that has lost comes back with its old age.
  void Begin() {
    const uint64_t id = arena_.next_owner++;
    owner_ = {lost_ ? owner_.age : id, id};
    requests_left_ = 3;
    lost_ = false;
  }

  // Releases the locks that the results of a query it has read do not need.
  void Narrow() {
    const std::vector<Hold> granted = arena_.referee.HeldBy(owner_);
    const auto scan = std::ranges::find_if(granted, [](const Hold& each) {
      return !each.is_narrowed && !each.scope.key_prefixes.empty();
    });
    if (scan == granted.end()) return;
    arena_.referee.Narrows(owner_, static_cast<size_t>(scan - granted.begin()));
    arena_.locks.Narrow(owner_, scan->scope.key_prefixes[0], arena_.query, {});
  }

  void End() {
    lost_ |= arena_.locks.HasLost(owner_);
    arena_.referee.GivesUp(owner_);
    arena_.locks.Release(owner_);
    ++arena_.finished;
    if (lost_) ++arena_.lost;
    has_ended_ = is_retiring_;
    if (!has_ended_) Begin();
  }

  bool TakeAnswers() {
    bool lost = false;
    for (const Outcome<Status>& request : requests_) {
      lost |= request.Take().code() == Code::kAborted;
    }
    requests_.clear();
    return lost;
  }

  void Request(Dice& dice) {
    constexpr LockMode kModes[] = {LockMode::kRead, LockMode::kUpdate, LockMode::kWrite};
    const LockMode mode = kModes[dice.Below(3)];
    LockScope scope;
    for (size_t keys = 1 + dice.Below(2); keys > 0; --keys) {
      scope.document_keys.push_back(KeyName(dice.Below(kKeys)));
    }
    if (mode != LockMode::kWrite && dice.OneIn(8)) {
      scope.key_prefixes.push_back({dice.OneIn(2) ? "a" : "b"});
    }
    if (mode == LockMode::kWrite) {
      scope.may_enter = [keys = scope.document_keys](size_t i, const watch::LiveQuery&) {
        return MayBeResult(static_cast<size_t>(keys[i].back() - '0'));
      };
    }
    const Outcome<Status>& outcome = requests_.emplace_back();
    arena_.referee.Wants(owner_);
    newest_ = arena_.locks.Acquire(owner_, scope, mode,
                                   [&arena = arena_, owner = owner_, scope, mode,
                                    done = outcome.Callback()](const Status& status) {
                                     arena.referee.Answered(owner, scope, mode, status);
                                     done(status);
                                     arena.progress.Note();
                                   });
  }

  Arena& arena_;
  LockOwner owner_{};
  size_t requests_left_ = 0;
  bool lost_ = false;
  bool is_retiring_ = false;
  bool has_ended_ = false;
  std::vector<Outcome<Status>> requests_;
  LockTable::Ticket newest_ = 0;
};

enum class Company { kAlone, kWithOthers };

// Moves actors in random order until `owners` owners have ended, and then until all have.
void Play(Arena& arena, Dice& dice, size_t owners, Company company) {
  std::vector<std::unique_ptr<Actor>> actors(company == Company::kAlone ? 8 : 3);
  for (auto& actor : actors) actor = std::make_unique<Actor>(arena);
  size_t idle_turns = 0;
  size_t answers = 0;
  while (!actors.empty()) {
    if (idle_turns == 0) answers = arena.progress.answers();
    Actor& actor = *actors[dice.Below(actors.size())];
    if (arena.finished >= owners) actor.Retire();
    idle_turns = actor.Move(dice) ? 0 : idle_turns + 1;
    std::erase_if(actors, [](const auto& each) { return each->has_ended(); });
    if (company == Company::kAlone) {
      // Without other threads, some actor can always move.
      ASSERT_LT(idle_turns, 10'000u) << "everybody waits";
    } else if (idle_turns >= 50) {
      arena.progress.AwaitMoreThan(answers);
      idle_turns = 0;
    }
  }
}

void ExpectAllWentWell(Arena& arena) {
  EXPECT_EQ(arena.locks.waiting_requests(), 0u);
  EXPECT_GT(arena.lost, 0u);                  // There were deadlocks,
  EXPECT_LT(arena.lost, arena.finished / 2);  // but most owners got what they wanted.
  // Nothing is left behind: a new owner gets everything.
  Outcome<Status> everything;
  arena.locks.Acquire({1, 1'000'000'000},
                      {{KeyName(0), KeyName(1)}, {KeyPrefix{"a"}, KeyPrefix{"b"}}},
                      LockMode::kUpdate, everything.Callback());
  EXPECT_TRUE(everything.IsThere());
}

TEST(LockTableStressTest, SomebodyCanAlwaysMove) {
  Arena arena;
  Dice dice(TestSeed());
  Play(arena, dice, TestRounds(30'000), Company::kAlone);
  ExpectAllWentWell(arena);
}

TEST(LockTableStressTest, ThreadsExcludeOneAnother) {
  Arena arena;
  const uint64_t seed = TestSeed();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 6; ++i) {
    threads.emplace_back([&arena, dice = Dice(seed + i)]() mutable {
      Play(arena, dice, TestRounds(10'000), Company::kWithOthers);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ExpectAllWentWell(arena);
}

}  // namespace
}  // namespace hearth::transactions
