// Many threads and read-write transactions with retries: no update is lost, and the answers are
// consistent with one serial order.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/status_macros.h"
#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "engine/engine.h"
#include "engine/listing.h"
#include "engine/testing/test_engine.h"

namespace hearth::engine {
namespace {

using model::Timestamp;

void RunThreads(size_t count, const std::function<void(size_t)>& body) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

// Runs one transaction after another until one commits, as SDKs do.
class Attempts {
 public:
  explicit Attempts(TestEngine& test) : test_(test) {}

  // `body` reads within the transaction and returns what to write.
  using Body = std::function<Result<std::vector<request::Write>>(const request::InTransaction&)>;
  Timestamp Run(const Body& body) {
    request::TransactionOptions options;
    while (true) {
      ++attempts_;
      const std::string id = test_.Begin(options);
      Result<std::vector<request::Write>> writes = body(request::InTransaction{id});
      if (writes.ok()) {
        const Result<request::CommitResult> result = test_.Commit(*std::move(writes), id);
        if (result.ok()) return result->commit_time;
        EXPECT_EQ(result.status().code(), Code::kAborted) << result.status().ToString();
      } else {
        EXPECT_EQ(writes.status().code(), Code::kAborted) << writes.status().ToString();
        EXPECT_EQ(test_.Rollback(id), Status());
      }
      options.retry_transaction = id;
    }
  }
  size_t attempts() const { return attempts_; }

 private:
  TestEngine& test_;
  size_t attempts_ = 0;
};

TEST(EngineStressTest, FiftyTransactionsOnOneCounterAllSucceed) {
  constexpr size_t kThreads = 50;
  constexpr size_t kAttemptsMax = 5;  // The default of SDKs.
  TestEngine test;
  test.MustCommit(SetNumber("c/counter", 0));
  std::atomic<size_t> attempts_most = 0;
  for (int64_t round = 1; round <= 5; ++round) {
    RunThreads(kThreads, [&](size_t) {
      Attempts attempts(test);
      attempts.Run([&test](const request::InTransaction& transaction)
                       -> Result<std::vector<request::Write>> {
        ASSIGN_OR_RETURN(const model::Record counter, test.Get(transaction, "c/counter"));
        return std::vector<request::Write>{SetNumber("c/counter", NumberOf(*counter) + 1)};
      });
      for (size_t most = attempts_most;
           most < attempts.attempts() &&
           !attempts_most.compare_exchange_weak(most, attempts.attempts());) {
      }
    });
    EXPECT_EQ(NumberOf(**test.GetNewest("c/counter")), round * static_cast<int64_t>(kThreads));
  }
  EXPECT_LE(attempts_most, kAttemptsMax);
}

// Accounts in one collection. Transfers keep the sum, including those that open or close accounts;
// audits add up all accounts, by a scan in a transaction, by a plain scan, and at a moment in the
// past.
class Bank {
 public:
  static constexpr size_t kAccounts = 8;
  static constexpr int64_t kSum = 1'000;

  explicit Bank(TestEngine& test) : test_(test) { test_.MustCommit(SetNumber("accounts/0", kSum)); }

  // Moves some money; an account without money is closed, and one that receives money is opened.
  Result<std::vector<request::Write>> Transfer(const request::InTransaction& transaction,
                                               size_t from, size_t to, int64_t amount) {
    ASSIGN_OR_RETURN(const int64_t from_balance, Balance(transaction, from));
    ASSIGN_OR_RETURN(const int64_t to_balance, Balance(transaction, to));
    const int64_t moved = std::min(amount, from_balance);
    if (from == to || moved == 0) return std::vector<request::Write>{};
    return std::vector<request::Write>{SetBalance(from, from_balance - moved),
                                       SetBalance(to, to_balance + moved)};
  }

  Result<int64_t> Sum(const request::Consistency& consistency) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ReadView> view,
                     test_.Read(consistency, TestEngine::Collection("accounts")));
    request::ListDocumentsRequest request{Parent(), "accounts"};
    ASSIGN_OR_RETURN(const request::DocumentPage page, ListDocuments(*view, request));
    int64_t sum = 0;
    for (const request::ListedDocument& account : page.documents) sum += NumberOf(*account.record);
    return sum;
  }

  // The sum by single reads from one view.
  Result<int64_t> SumOneByOne(const request::Consistency& consistency) {
    ReadScope scope;
    for (size_t i = 0; i < kAccounts; ++i) scope.documents.push_back(hearth::Path(Path(i)));
    ASSIGN_OR_RETURN(const std::unique_ptr<ReadView> view, test_.Read(consistency, scope));
    int64_t sum = 0;
    for (const model::DocumentPath& path : scope.documents) {
      ASSIGN_OR_RETURN(const model::Record account, view->Get(path));
      if (account) sum += NumberOf(*account);
    }
    return sum;
  }

 private:
  static std::string Path(size_t account) { return "accounts/" + std::to_string(account); }

  Result<int64_t> Balance(const request::InTransaction& transaction, size_t account) {
    ASSIGN_OR_RETURN(const model::Record record, test_.Get(transaction, Path(account)));
    return record ? NumberOf(*record) : 0;
  }
  static request::Write SetBalance(size_t account, int64_t balance) {
    return balance == 0 ? Delete(Path(account)) : SetNumber(Path(account), balance);
  }

  TestEngine& test_;
};

TEST(EngineStressTest, TransfersAndAuditsAreSerializable) {
  const uint64_t seed = TestSeed();
  constexpr size_t kThreads = 8;
  constexpr size_t kStepsPerThread = 500;
  // A small cache, so that the store, the cache and the history are all used.
  EngineOptions options;
  options.document_cache_bytes = 16 * 1'000;
  TestEngine test(options);
  Bank bank(test);
  RunThreads(kThreads, [&](size_t thread) {
    Dice dice(seed + thread);
    Attempts attempts(test);
    std::vector<Timestamp> moments;
    for (size_t step = 0; step < kStepsPerThread; ++step) {
      switch (dice.Below(8)) {
        case 0:  // The audit is part of the transaction, which writes its result.
          moments.push_back(attempts.Run([&](const request::InTransaction& transaction)
                                             -> Result<std::vector<request::Write>> {
            ASSIGN_OR_RETURN(const int64_t sum, bank.Sum(transaction));
            EXPECT_EQ(sum, Bank::kSum);
            return std::vector<request::Write>{SetNumber("audits/" + std::to_string(thread), sum)};
          }));
          break;
        case 1:
          EXPECT_EQ(*bank.Sum(request::Now{}), Bank::kSum);
          break;
        case 2:
          EXPECT_EQ(*bank.SumOneByOne(request::Now{}), Bank::kSum);
          break;
        case 3:
          if (moments.empty()) break;
          EXPECT_EQ(*bank.Sum(moments[dice.Below(moments.size())]), Bank::kSum);
          EXPECT_EQ(*bank.SumOneByOne(moments[dice.Below(moments.size())]), Bank::kSum);
          break;
        default: {
          const size_t from = dice.Below(Bank::kAccounts);
          const size_t to = dice.Below(Bank::kAccounts);
          const auto amount = static_cast<int64_t>(1 + dice.Below(Bank::kSum));
          moments.push_back(attempts.Run([&](const request::InTransaction& transaction) {
            return bank.Transfer(transaction, from, to, amount);
          }));
        }
      }
      if (dice.OneIn(10)) test.clock().Advance(std::chrono::microseconds(1));
    }
  });
  EXPECT_EQ(*bank.Sum(request::Now{}), Bank::kSum);
  test.Restart();
  EXPECT_EQ(*bank.Sum(request::Now{}), Bank::kSum);
  EXPECT_EQ(*bank.SumOneByOne(request::Now{}), Bank::kSum);
}

// Write skew: two transactions read both documents and each sets one of them, so that one of the
// two must always stay above zero. Only a serial order guarantees that.
TEST(EngineStressTest, NoWriteSkew) {
  const uint64_t seed = TestSeed();
  TestEngine test;
  test.MustCommit({SetNumber("duty/a", 1), SetNumber("duty/b", 1)});
  std::atomic<size_t> left = 0;
  RunThreads(4, [&](size_t thread) {
    Dice dice(seed + thread);
    Attempts attempts(test);
    for (int i = 0; i < 500; ++i) {
      const std::string mine = dice.OneIn(2) ? "duty/a" : "duty/b";
      const bool wants_to_leave = dice.OneIn(2);
      attempts.Run(
          [&](const request::InTransaction& transaction) -> Result<std::vector<request::Write>> {
            ASSIGN_OR_RETURN(const auto view,
                             test.Read(transaction, TestEngine::Documents({"duty/a", "duty/b"})));
            ASSIGN_OR_RETURN(const model::Record a, view->Get(Path("duty/a")));
            ASSIGN_OR_RETURN(const model::Record b, view->Get(Path("duty/b")));
            const int64_t on_duty = NumberOf(*a) + NumberOf(*b);
            EXPECT_GT(on_duty, 0);
            if (!wants_to_leave) return std::vector<request::Write>{SetNumber(mine, 1)};
            if (on_duty < 2) return std::vector<request::Write>{};
            ++left;
            return std::vector<request::Write>{SetNumber(mine, 0)};
          });
    }
  });
  EXPECT_GT(left, 0u);
}

// Consecutive reads of the present never go back in time, whichever path they take.
TEST(EngineStressTest, ReadsNeverGoBack) {
  const auto commits = static_cast<int64_t>(TestRounds(1'000));
  EngineOptions options;
  options.document_cache_bytes = 16 * 1'000;
  TestEngine test(options);
  test.MustCommit({SetNumber("c/a", 0), SetNumber("c/b", 0)});
  std::atomic<bool> has_ended = false;
  RunThreads(4, [&](size_t thread) {
    if (thread == 0) {
      for (int64_t i = 1; i <= commits; ++i) {
        test.MustCommit({SetNumber("c/a", i), SetNumber("c/b", i)});
      }
      has_ended = true;
      return;
    }
    Dice dice(thread);
    int64_t last = 0;
    while (!has_ended) {
      const std::string path = dice.OneIn(2) ? "c/a" : "c/b";
      int64_t number = 0;
      switch (dice.Below(3)) {
        case 0:
          number = NumberOf(**test.GetNewest(path));
          break;
        case 1:
          number = NumberOf(**test.Get(request::Now{}, path));
          break;
        default: {
          const auto view = *test.Read(request::Now{}, TestEngine::Everything());
          const auto documents = *ScanAll(*view);
          number = NumberOf(documents.at(path));
          EXPECT_EQ(NumberOf(documents.at("c/a")), NumberOf(documents.at("c/b")));
          EXPECT_EQ(NumberOf(**view->Get(Path(path))), number);
        }
      }
      ASSERT_GE(number, last);
      last = number;
    }
  });
}

}  // namespace
}  // namespace hearth::engine
