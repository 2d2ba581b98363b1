// One way to wait: every call that may wait calls back once, on the given executor, and never from
// inside the call.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/waiting_executor.h"
#include "engine/clearing.h"
#include "engine/engine.h"
#include "engine/testing/test_engine.h"
#include "query/normalize.h"
#include "transactions/testing/transactions.h"

namespace hearth::engine {
namespace {

class WaitingTest : public testing::Test {
 protected:
  // Waits for the outcome of `start`, and checks where and when it is delivered.
  template <typename T, typename Start>
  T Await(const Start& start) {
    WaitingExecutor here;
    const std::thread::id caller = std::this_thread::get_id();
    std::optional<T> answer;
    bool has_returned = false;
    start(here, Callback<void(T)>([&](T told) {
            EXPECT_TRUE(has_returned) << "called back from inside the call";
            EXPECT_EQ(std::this_thread::get_id(), caller) << "called back on another thread";
            EXPECT_FALSE(answer.has_value()) << "called back twice";
            answer.emplace(std::move(told));
          }));
    has_returned = true;
    return here.Await(answer);
  }

  Status Read(const request::Consistency& consistency, const ReadScope& scope,
              const Caller& caller = {}) {
    return Await<Result<std::unique_ptr<ReadView>>>([&](Executor& here, auto done) {
             test_.engine().Read(test_.database(), consistency, scope, here, std::move(done),
                                 caller);
           })
        .status();
  }
  Status Query(const request::Consistency& consistency) {
    query::NormalizedQuery query = *query::Normalize({.parent = Parent(), .collection_id = "c"});
    return Await<Result<std::unique_ptr<QueryRun>>>([&](Executor& here, auto done) {
             test_.engine().Query(test_.database(),
                                  {std::move(query), QueryAnswer::kDocuments, consistency}, here,
                                  std::move(done));
           })
        .status();
  }
  Status Commit(std::vector<request::Write> writes, std::string_view transaction = "") {
    return Await<Result<request::CommitResult>>([&](Executor& here, auto done) {
             test_.engine().Commit(test_.database(), std::move(writes), transaction, here,
                                   std::move(done));
           })
        .status();
  }

  TestEngine test_;
};

TEST_F(WaitingTest, AnswersComeOnTheExecutor) {
  EXPECT_EQ(Commit({SetNumber("c/a", 1)}), Status());
  const std::string transaction = test_.Begin();
  const std::string read_only = test_.Begin(ReadOnly());
  const request::Consistency moments[] = {request::Now{}, model::Timestamp::FromMicros(test_.now()),
                                          request::InTransaction{transaction},
                                          request::InTransaction{read_only},
                                          request::NewTransaction{}};
  for (const request::Consistency& moment : moments) {
    EXPECT_EQ(Read(moment, TestEngine::Documents({"c/a"})), Status());
    EXPECT_EQ(Read(moment, TestEngine::Everything()), Status());
    EXPECT_EQ(Query(moment), Status());
  }
  EXPECT_EQ(Commit({}, transaction), Status());
}

TEST_F(WaitingTest, TheEndOfAClearIsToldThereToo) {
  test_.MustCommit(SetNumber("c/a", 1));
  EXPECT_EQ(Await<Status>([&](Executor& here, auto done) {
              Clear(test_.engine(), test_.database(), AllDocuments(), here, std::move(done));
            }),
            Status());
}

TEST_F(WaitingTest, RefusalsComeThereToo) {
  const request::Consistency refused[] = {model::Timestamp::FromMicros(-1),
                                          request::InTransaction{"none of ours"}};
  for (const request::Consistency& moment : refused) {
    EXPECT_EQ(Read(moment, TestEngine::Documents({"c/a"})).code(), Code::kInvalidArgument);
    EXPECT_EQ(Query(moment).code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(Commit({SetNumber("c/a", 1)}, "none of ours").code(), Code::kInvalidArgument);
  EXPECT_EQ(Commit({SetNumber("c/a", 1)}, test_.Begin(ReadOnly())).code(), Code::kInvalidArgument);
  EXPECT_EQ(Commit({IfExists(SetNumber("c/missing", 1))}).code(), Code::kNotFound);
}

TEST_F(WaitingTest, ALockThatComesLateIsToldThereToo) {
  test_.MustCommit(SetNumber("c/a", 1));
  const std::string holder = test_.Begin();
  ASSERT_TRUE(test_.Get(request::InTransaction{holder}, "c/a").ok());
  std::jthread release;
  const auto start = [&](Executor& here, auto done) {
    test_.engine().Commit(test_.database(), {SetNumber("c/a", 2)}, "", here, std::move(done));
    release = std::jthread([&] { ASSERT_EQ(test_.Rollback(holder), Status()); });
  };
  EXPECT_TRUE(Await<Result<request::CommitResult>>(start).ok());
}

TEST_F(WaitingTest, AWaitForALockOfACallerThatHasLeftIsToldThereToo) {
  const std::string holder = test_.Begin(RetryOf(test_.Begin()));  // Reads alone.
  ASSERT_TRUE(test_.Get(request::InTransaction{holder}, "c/a").ok());
  const request::InTransaction waiting{test_.Begin()};
  std::stop_source left;
  left.request_stop();
  for (const ReadScope& scope : {TestEngine::Documents({"c/a"}), TestEngine::Collection("c")}) {
    EXPECT_EQ(Read(waiting, scope, {.left = left.get_token()}).code(), Code::kCancelled);
    std::stop_source leaving;
    std::jthread leave;
    const auto start = [&](Executor& here, auto done) {
      test_.engine().Read(test_.database(), waiting, scope, here, std::move(done),
                          {.left = leaving.get_token()});
      leave = std::jthread([&] { leaving.request_stop(); });
    };
    EXPECT_EQ(Await<Result<std::unique_ptr<ReadView>>>(start).status().code(), Code::kCancelled);
  }
}

TEST_F(WaitingTest, AFullQueueOfReadersIsToldThereToo) {
  EngineOptions options;
  options.readers.threads = 1;
  options.readers.queued_tasks_max = 0;
  TestEngine full(options);
  const auto query = *query::Normalize({.parent = Parent(), .collection_id = "c"});
  const auto start = [&](Executor& here, auto done) {
    full.engine().Query(full.database(), {query}, here, std::move(done));
  };
  EXPECT_EQ(Await<Result<std::unique_ptr<QueryRun>>>(start).status().code(),
            Code::kResourceExhausted);
}

}  // namespace
}  // namespace hearth::engine
