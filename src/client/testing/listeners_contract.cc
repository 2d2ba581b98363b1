// Listeners, if the transport supports them.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/testing/transport_contract.h"

namespace hearth::client {
namespace {

using Kind = DocumentChange::Kind;

// The snapshots that a listener got. Threads: safe for concurrent use.
template <typename Snapshot>
class Heard {
 public:
  std::function<void(const Result<Snapshot>&)> Callback() {
    return [this](const Result<Snapshot>& snapshot) {
      MutexLock lock(mutex_);
      heard_.push_back(snapshot);
      changed_.NotifyAll();
    };
  }

  // Waits for a snapshot that `fits`; removes and returns all up to it. Fails the test on timeout.
  std::vector<Snapshot> AwaitUntil(const std::function<bool(const Snapshot&)>& fits) {
    constexpr auto kLong = std::chrono::seconds(60);
    const auto give_up_at = std::chrono::steady_clock::now() + kLong;
    std::vector<Snapshot> taken;
    MutexLock lock(mutex_);
    while (true) {
      for (; next_ < heard_.size(); ++next_) {
        EXPECT_TRUE(heard_[next_].ok()) << heard_[next_].status().ToString();
        if (!heard_[next_].ok()) return taken;
        taken.push_back(*heard_[next_]);
        if (fits(taken.back())) {
          ++next_;
          return taken;
        }
      }
      EXPECT_LT(std::chrono::steady_clock::now(), give_up_at);
      if (std::chrono::steady_clock::now() >= give_up_at) return taken;
      changed_.WaitFor(mutex_, std::chrono::milliseconds(1'000));
    }
  }
  Snapshot Await(const std::function<bool(const Snapshot&)>& fits) {
    return AwaitUntil(fits).back();
  }
  size_t count() {
    MutexLock lock(mutex_);
    return heard_.size();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<Result<Snapshot>> heard_ GUARDED_BY(mutex_);
  size_t next_ GUARDED_BY(mutex_) = 0;
};

std::function<bool(const QuerySnapshot&)> HasIds(Ids ids) {
  return [ids = std::move(ids)](const QuerySnapshot& snapshot) { return IdsOf(snapshot) == ids; };
}

// Applies the changes to the list in order.
void ApplyChanges(const QuerySnapshot& snapshot, Ids* ids) {
  for (const DocumentChange& change : snapshot.changes) {
    const auto at = [ids](size_t index) { return ids->begin() + static_cast<long>(index); };
    if (change.kind != Kind::kAdded) {
      ASSERT_LT(change.old_index, ids->size());
      ASSERT_EQ((*ids)[change.old_index], change.document.id());
      ids->erase(at(change.old_index));
    }
    if (change.kind != Kind::kRemoved) {
      ASSERT_LE(change.new_index, ids->size());
      ids->insert(at(change.new_index), std::string(change.document.id()));
    }
  }
}

TEST_P(TransportContract, AQueryTellsResultsAndChanges) {
  if (!GetParam().listeners) GTEST_SKIP();
  Put("rooms/a", {{"size", 1}});
  Put("rooms/b", {{"size", 2}});
  Heard<QuerySnapshot> heard;
  Result<Listener> listener =
      db_.Collection("rooms").Where("size", Op::kGreater, 0).Listen(heard.Callback());
  ASSERT_TRUE(listener.ok()) << listener.status().ToString();

  const QuerySnapshot first = heard.Await(HasIds({"a", "b"}));
  ASSERT_EQ(first.changes.size(), 2u);
  EXPECT_EQ(first.changes[0].kind, Kind::kAdded);
  EXPECT_EQ(first.changes[0].document.id(), "a");
  EXPECT_EQ(first.changes[0].old_index, DocumentChange::kNowhere);
  EXPECT_EQ(first.changes[1].new_index, 1u);

  Put("rooms/c", {{"size", 1.5}});
  const QuerySnapshot added = heard.Await(HasIds({"a", "c", "b"}));
  ASSERT_EQ(added.changes.size(), 1u);
  EXPECT_EQ(added.changes[0].kind, Kind::kAdded);
  EXPECT_EQ(added.changes[0].new_index, 1u);
  EXPECT_GT(added.read_time, first.read_time);

  Put("rooms/a", {{"size", 3}});
  const QuerySnapshot moved = heard.Await(HasIds({"c", "b", "a"}));
  ASSERT_EQ(moved.changes.size(), 1u);
  EXPECT_EQ(moved.changes[0].kind, Kind::kModified);
  EXPECT_EQ(moved.changes[0].old_index, 0u);
  EXPECT_EQ(moved.changes[0].new_index, 2u);
  EXPECT_EQ(moved.documents.at(2).Data(), (Map{{"size", 3}}));

  Put("rooms/b", {{"size", 0}});  // No longer matches.
  const QuerySnapshot left = heard.Await(HasIds({"c", "a"}));
  ASSERT_EQ(left.changes.size(), 1u);
  EXPECT_EQ(left.changes[0].kind, Kind::kRemoved);
  EXPECT_EQ(left.changes[0].old_index, 1u);
  EXPECT_EQ(left.changes[0].document.Data(), (Map{{"size", 2}}));

  ASSERT_TRUE(db_.Doc("rooms/c").Delete().ok());
  heard.Await(HasIds({"a"}));
}

TEST_P(TransportContract, ChangesOfOneCommitComeTogether) {
  if (!GetParam().listeners) GTEST_SKIP();
  Heard<QuerySnapshot> heard;
  Result<Listener> listener = db_.Collection("rooms").Listen(heard.Callback());
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(heard.Await(HasIds({})).changes.empty());
  WriteBatch batch = db_.Batch();
  for (const char* id : {"a", "b", "c"}) batch.Set(db_.Collection("rooms").Doc(id), {});
  ASSERT_TRUE(batch.Commit().ok());
  const auto snapshots = heard.AwaitUntil(HasIds({"a", "b", "c"}));
  EXPECT_EQ(snapshots.size(), 1u);
}

TEST_P(TransportContract, AppliedChangesMakeTheResults) {
  if (!GetParam().listeners) GTEST_SKIP();
  Heard<QuerySnapshot> heard;
  Result<Listener> listener = db_.Collection("rooms").OrderBy("n").Listen(heard.Callback());
  ASSERT_TRUE(listener.ok());
  for (int i = 0; i < 60; ++i) {
    const DocumentReference room = db_.Doc("rooms/" + std::to_string(i % 7));
    if (i % 5 == 4) {
      ASSERT_TRUE(room.Delete().ok());
    } else {
      ASSERT_TRUE(room.Set({{"n", (i * 37) % 23}}).ok());
    }
  }
  Put("rooms/end", {{"n", 1'000}});
  Ids ids;
  for (const QuerySnapshot& snapshot : heard.AwaitUntil([](const QuerySnapshot& state) {
         return !state.empty() && state.documents.back().id() == "end";
       })) {
    ApplyChanges(snapshot, &ids);
    EXPECT_EQ(ids, IdsOf(snapshot));
  }
  EXPECT_EQ(ids, IdsOf(db_.Collection("rooms").OrderBy("n")));
}

TEST_P(TransportContract, OrdersAndLimits) {
  if (!GetParam().listeners) GTEST_SKIP();
  for (int i = 0; i < 5; ++i) Put("rooms/" + std::to_string(i), {{"n", i}, {"x", i}});
  const Query rooms = db_.Collection("rooms");
  Heard<QuerySnapshot> largest;
  Heard<QuerySnapshot> last;
  Result<Listener> first_listener =
      rooms.OrderBy("n", Direction::kDescending).Limit(2).Listen(largest.Callback());
  Result<Listener> last_listener =
      rooms.OrderBy("n").LimitToLast(2).Select({"n"}).Listen(last.Callback());
  ASSERT_TRUE(first_listener.ok() && last_listener.ok());
  largest.Await(HasIds({"4", "3"}));
  EXPECT_EQ(last.Await(HasIds({"3", "4"})).documents.at(0).Data(), (Map{{"n", 3}}));
  Put("rooms/5", {{"n", 3.5}});
  largest.Await(HasIds({"4", "5"}));
  last.Await(HasIds({"5", "4"}));
  ASSERT_TRUE(db_.Doc("rooms/4").Delete().ok());
  largest.Await(HasIds({"5", "3"}));
  last.Await(HasIds({"3", "5"}));
}

TEST_P(TransportContract, ADocument) {
  if (!GetParam().listeners) GTEST_SKIP();
  Heard<DocumentSnapshot> heard;
  Result<Listener> listener = db_.Doc("rooms/a").Listen(heard.Callback());
  ASSERT_TRUE(listener.ok()) << listener.status().ToString();
  const auto is_missing = [](const DocumentSnapshot& room) { return !room.exists(); };
  EXPECT_EQ(heard.Await(is_missing).path().path(), "rooms/a");
  Put("rooms/a", {{"size", 1}});
  heard.Await([](const DocumentSnapshot& room) { return room.Data() == Map{{"size", 1}}; });
  Put("rooms/b", {{"size", 1}});
  Put("rooms/a", {{"size", 2}});
  heard.Await([](const DocumentSnapshot& room) { return room.Data() == Map{{"size", 2}}; });
  ASSERT_TRUE(db_.Doc("rooms/a").Delete().ok());
  heard.Await(is_missing);
}

TEST_P(TransportContract, NothingIsToldAfterTheEnd) {
  if (!GetParam().listeners) GTEST_SKIP();
  Heard<QuerySnapshot> stopped;
  Heard<QuerySnapshot> other;
  Result<Listener> first = db_.Collection("rooms").Listen(stopped.Callback());
  Result<Listener> second = db_.Collection("rooms").Listen(other.Callback());
  ASSERT_TRUE(first.ok() && second.ok());
  stopped.Await(HasIds({}));
  first->Stop();
  const size_t count = stopped.count();
  Put("rooms/a", {});
  other.Await(HasIds({"a"}));
  EXPECT_EQ(stopped.count(), count);
  first->Stop();  // A second Stop has no effect.
}

TEST_P(TransportContract, StoppedFromItsOwnCallback) {
  if (!GetParam().listeners) GTEST_SKIP();
  // The callback needs the listener, which exists only after Listen has returned.
  struct Shared {
    Mutex mutex;
    CondVar changed;
    std::unique_ptr<Listener> listener GUARDED_BY(mutex);
    int calls GUARDED_BY(mutex) = 0;
    bool is_over GUARDED_BY(mutex) = false;
  };
  auto shared = std::make_shared<Shared>();
  Result<Listener> listener =
      db_.Collection("rooms").Listen([shared](const Result<QuerySnapshot>&) {
        std::unique_ptr<Listener> mine;
        {
          MutexLock lock(shared->mutex);
          ++shared->calls;
          while (!shared->listener) shared->changed.Wait(shared->mutex);
          mine = std::move(shared->listener);
        }
        mine->Stop();
        MutexLock lock(shared->mutex);
        shared->is_over = true;
        shared->changed.NotifyAll();
      });
  ASSERT_TRUE(listener.ok());
  {
    MutexLock lock(shared->mutex);
    shared->listener = std::make_unique<Listener>(*std::move(listener));
    shared->changed.NotifyAll();
    while (!shared->is_over) shared->changed.Wait(shared->mutex);
  }
  Heard<QuerySnapshot> other;
  Result<Listener> second = db_.Collection("rooms").Listen(other.Callback());
  Put("rooms/a", {});
  other.Await(HasIds({"a"}));
  MutexLock lock(shared->mutex);
  EXPECT_EQ(shared->calls, 1);
}

TEST_P(TransportContract, WhoIsSlowGetsTheNewestState) {
  if (!GetParam().listeners) GTEST_SKIP();
  struct Shared {
    Mutex mutex;
    CondVar changed;
    bool may_go_on GUARDED_BY(mutex) = false;
  };
  auto shared = std::make_shared<Shared>();
  Heard<QuerySnapshot> heard;
  Result<Listener> listener = db_.Collection("rooms").Listen(
      [shared, tell = heard.Callback()](const Result<QuerySnapshot>& snapshot) {
        tell(snapshot);
        MutexLock lock(shared->mutex);
        while (!shared->may_go_on) shared->changed.Wait(shared->mutex);
      });
  ASSERT_TRUE(listener.ok());
  heard.Await(HasIds({}));
  Heard<QuerySnapshot> quick;
  Result<Listener> second = db_.Collection("rooms").Listen(quick.Callback());
  ASSERT_TRUE(second.ok());
  constexpr int kWrites = 50;
  for (int i = 0; i < kWrites; ++i) Put("rooms/a", {{"n", i}});
  const auto is_last = [](const QuerySnapshot& snapshot) {
    return !snapshot.empty() && snapshot.documents[0].Get("n") == Value(kWrites - 1);
  };
  quick.Await(is_last);
  {
    MutexLock lock(shared->mutex);
    shared->may_go_on = true;
    shared->changed.NotifyAll();
  }
  EXPECT_LE(heard.AwaitUntil(is_last).size(), 2u);
}

TEST_P(TransportContract, CallbacksMayUseTheDatabase) {
  if (!GetParam().listeners) GTEST_SKIP();
  Heard<DocumentSnapshot> counted;
  Result<Listener> counter = db_.Doc("counts/rooms").Listen(counted.Callback());
  Result<Listener> listener =
      db_.Collection("rooms").Listen([this](const Result<QuerySnapshot>& snapshot) {
        ASSERT_TRUE(snapshot.ok());
        const auto count = static_cast<int64_t>(snapshot->size());
        EXPECT_TRUE(db_.Doc("counts/rooms").Set({{"n", count}}).ok());
      });
  ASSERT_TRUE(counter.ok() && listener.ok());
  Put("rooms/a", {});
  Put("rooms/b", {});
  counted.Await([](const DocumentSnapshot& document) { return document.Get("n") == Value(2); });
}

TEST_P(TransportContract, QueriesThatCannotBeListenedTo) {
  if (!GetParam().listeners) GTEST_SKIP();
  const auto ignore = [](const Result<QuerySnapshot>&) {};
  const Query rooms = db_.Collection("rooms");
  EXPECT_EQ(CodeOf(rooms.OrderBy("a").OrderBy("a").Listen(ignore)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(rooms.LimitToLast(1).Listen(ignore)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(rooms.FindNearest({.vector_field = "v", .query_vector = {1.0}}).Listen(ignore)),
            Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(db_.Doc("rooms").Listen([](const Result<DocumentSnapshot>&) {})),
            Code::kInvalidArgument);
}

TEST_P(TransportContract, WithoutListenersListenSaysSo) {
  if (GetParam().listeners) GTEST_SKIP() << "this transport has listeners";
  EXPECT_EQ(CodeOf(db_.Collection("rooms").Listen([](const Result<QuerySnapshot>&) {})),
            Code::kUnimplemented);
  EXPECT_EQ(CodeOf(db_.Doc("rooms/a").Listen([](const Result<DocumentSnapshot>&) {})),
            Code::kUnimplemented);
}

}  // namespace
}  // namespace hearth::client
