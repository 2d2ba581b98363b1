// Transactions: isolation, locks and retries.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/status_macros.h"
#include "client/testing/transport_contract.h"

namespace hearth::client {
namespace {

// Enough for any contention in these tests.
constexpr size_t kManyAttempts = 100;

TEST_P(TransportContract, ATransactionReadsAndWrites) {
  Put("accounts/a", {{"amount", 10}});
  Put("accounts/b", {{"amount", 1}});
  const Status status = db_.RunTransaction([this](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const auto accounts,
                     transaction.GetAll(
                         {db_.Doc("accounts/a"), db_.Doc("accounts/b"), db_.Doc("accounts/none")}));
    EXPECT_FALSE(accounts.at(2).exists());
    const int64_t a = *accounts.at(0).Get("amount")->integer();
    const int64_t b = *accounts.at(1).Get("amount")->integer();
    transaction.Update(accounts.at(0).reference(), {{"amount", a - 5}});
    transaction.Set(accounts.at(1).reference(), {{"amount", b + 5}});
    transaction.Create(db_.Doc("transfers/t1"), {{"amount", 5}});
    transaction.Delete(db_.Doc("accounts/none"));
    return Status();
  });
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(Read("accounts/a"), (Map{{"amount", 5}}));
  EXPECT_EQ(Read("accounts/b"), (Map{{"amount", 6}}));
  EXPECT_TRUE(Exists("transfers/t1"));
}

TEST_P(TransportContract, ATransactionQueries) {
  Put("rooms/a", {{"size", 1}});
  Put("rooms/b", {{"size", 2}});
  Ids ids;
  std::vector<Value> aggregates;
  const Status status = db_.RunTransaction([&](Transaction& transaction) -> Status {
    const Query rooms = db_.Collection("rooms").OrderBy("size").LimitToLast(5);
    ASSIGN_OR_RETURN(const QuerySnapshot snapshot, transaction.Get(rooms));
    ASSIGN_OR_RETURN(aggregates, transaction.Aggregate(rooms, {AggregateField::Sum("size")}));
    ids = IdsOf(snapshot);
    transaction.Set(db_.Doc("sums/rooms"), {{"sum", aggregates.at(0)}});
    return Status();
  });
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(ids, (Ids{"a", "b"}));
  EXPECT_EQ(Read("sums/rooms"), (Map{{"sum", 3}}));
}

TEST_P(TransportContract, ReadsAfterWritesAreRefused) {
  int attempts = 0;
  const Status status = db_.RunTransaction([&](Transaction& transaction) -> Status {
    ++attempts;
    transaction.Set(db_.Doc("rooms/a"), {});
    EXPECT_EQ(CodeOf(transaction.Get(db_.Collection("rooms"))), Code::kFailedPrecondition);
    EXPECT_EQ(CodeOf(transaction.Aggregate(db_.Collection("rooms"), {AggregateField::Count()})),
              Code::kFailedPrecondition);
    return transaction.Get(db_.Doc("rooms/a")).status();
  });
  EXPECT_EQ(status,
            Status(Code::kFailedPrecondition,
                   "Firestore transactions require all reads to be executed before all writes."));
  EXPECT_EQ(attempts, 1);
  EXPECT_FALSE(Exists("rooms/a"));
}

TEST_P(TransportContract, AnErrorEndsTheTransaction) {
  int attempts = 0;
  const Status mine(Code::kAborted, "not from the database");
  const Status status = db_.RunTransaction([&](Transaction& transaction) -> Status {
    ++attempts;
    EXPECT_TRUE(transaction.Get(db_.Doc("rooms/a")).ok());
    transaction.Set(db_.Doc("rooms/a"), {});
    return mine;
  });
  EXPECT_EQ(status, mine);
  EXPECT_EQ(attempts, 1);
  EXPECT_FALSE(Exists("rooms/a"));
  // No lock is left.
  EXPECT_TRUE(db_.Doc("rooms/a").Set({}).ok());
}

TEST_P(TransportContract, AMalformedWriteIsSaidAtTheEnd) {
  int attempts = 0;
  const Status status = db_.RunTransaction([&](Transaction& transaction) {
    ++attempts;
    transaction.Set(db_.Doc("rooms/a"), {});
    transaction.Update(db_.Doc("rooms/a"), {});
    return Status();
  });
  EXPECT_EQ(status, InvalidArgument("At least one field must be updated."));
  EXPECT_EQ(attempts, 1);
  EXPECT_FALSE(Exists("rooms/a"));
}

TEST_P(TransportContract, AFailedCommitIsNotTriedAgainInVain) {
  int attempts = 0;
  const Status status = db_.RunTransaction([&](Transaction& transaction) {
    ++attempts;
    transaction.Update(db_.Doc("rooms/none"), {{"a", 1}});
    return Status();
  });
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(attempts, 1);
}

TEST_P(TransportContract, ContendingTransactionsAllHappen) {
  constexpr int kThreads = 4;
  constexpr int kEach = 10;
  Put("counters/c", {{"n", 0}});
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, &failures] {
      const DocumentReference counter = db_.Doc("counters/c");
      for (int j = 0; j < kEach; ++j) {
        const Status status = db_.RunTransaction(
            [&counter](Transaction& transaction) -> Status {
              ASSIGN_OR_RETURN(const DocumentSnapshot snapshot, transaction.Get(counter));
              transaction.Update(counter, {{"n", *snapshot.Get("n")->integer() + 1}});
              return Status();
            },
            {.attempts_max = kManyAttempts});
        if (!status.ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(Read("counters/c"), (Map{{"n", kThreads * kEach}}));
}

TEST_P(TransportContract, TransactionsOnQueriesKeepOthersOut) {
  // Each adds a room unless there are three already; without locks there would be more.
  constexpr int kThreads = 4;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i, &failures] {
      const CollectionReference rooms = db_.Collection("rooms");
      for (int j = 0; j < 3; ++j) {
        const std::string id = std::to_string(i) + "-" + std::to_string(j);
        const Status status = db_.RunTransaction(
            [&rooms, &id](Transaction& transaction) -> Status {
              ASSIGN_OR_RETURN(const QuerySnapshot snapshot, transaction.Get(rooms));
              if (snapshot.size() < 3) transaction.Create(rooms.Doc(id), {});
              return Status();
            },
            {.attempts_max = kManyAttempts});
        if (!status.ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(*db_.Collection("rooms").Count(), 3);
}

TEST_P(TransportContract, AReadOnlyTransactionAtAnEarlierMoment) {
  const Result<WriteResult> first = db_.Doc("rooms/a").Set({{"size", 1}});
  ASSERT_TRUE(first.ok());
  Put("rooms/a", {{"size", 2}});
  Map seen;
  const auto read = [&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const DocumentSnapshot room, transaction.Get(db_.Doc("rooms/a")));
    seen = room.Data();
    return Status();
  };
  const Status status =
      db_.RunTransaction(read, {.read_only = true, .read_time = first->write_time});
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(seen, (Map{{"size", 1}}));
  EXPECT_EQ(db_.RunTransaction(read, {.read_time = first->write_time}).code(),
            Code::kInvalidArgument);
}

TEST_P(TransportContract, AnEmptyTransactionIsFine) {
  EXPECT_TRUE(db_.RunTransaction([](Transaction&) { return Status(); }).ok());
}

}  // namespace
}  // namespace hearth::client
