#include "client/transaction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "client/backoff.h"
#include "client/firestore.h"
#include "client/testing/scripted_transport.h"

namespace hearth::client {
namespace {

using Texts = std::vector<std::string>;

class TransactionTest : public testing::Test {
 protected:
  // Fails the first commits with `error`.
  void FailCommits(int count, const Status& error) {
    transport_->on_commit = [count, error](const std::vector<request::Write>& writes) mutable {
      if (count-- > 0) return Result<TransportCommit>(error);
      return Result<TransportCommit>(
          TransportCommit{{}, std::vector<TransportWriteResult>(writes.size())});
    };
  }
  Status RunEmpty(const TransactionOptions& options = {}) {
    return db_.RunTransaction([](Transaction&) { return Status(); }, options);
  }

  std::shared_ptr<ScriptedTransport> transport_ = std::make_shared<ScriptedTransport>();
  Firestore db_{transport_};
};

TEST_F(TransactionTest, TriesAgainWithTheIdOfTheAttemptThatFailed) {
  FailCommits(2, Status(Code::kAborted, "contention"));
  EXPECT_TRUE(RunEmpty().ok());
  EXPECT_EQ(transport_->calls(),
            (Texts{"begin", "commit t1", "rollback t1", "begin after t1", "commit t2",
                   "rollback t2", "begin after t2", "commit t3"}));
}

TEST_F(TransactionTest, TriesAgainOnlyWhereThatMayHelp) {
  const auto attempts_after = [this](const Status& error) {
    transport_ = std::make_shared<ScriptedTransport>();
    db_ = Firestore(transport_);
    FailCommits(1, error);
    const Status status = RunEmpty();
    const Texts calls = transport_->calls();
    const auto attempts = std::count_if(calls.begin(), calls.end(), [](const std::string& call) {
      return call.starts_with("commit");
    });
    EXPECT_EQ(status, attempts == 1 ? error : Status());
    return attempts;
  };
  for (const Code code :
       {Code::kAborted, Code::kCancelled, Code::kUnknown, Code::kDeadlineExceeded, Code::kInternal,
        Code::kUnavailable, Code::kUnauthenticated, Code::kResourceExhausted}) {
    EXPECT_EQ(attempts_after(Status(code, "x")), 2) << CodeName(code);
  }
  for (const Code code :
       {Code::kInvalidArgument, Code::kNotFound, Code::kAlreadyExists, Code::kPermissionDenied,
        Code::kFailedPrecondition, Code::kOutOfRange, Code::kUnimplemented, Code::kDataLoss}) {
    EXPECT_EQ(attempts_after(Status(code, "x")), 1) << CodeName(code);
  }
  EXPECT_EQ(attempts_after(
                InvalidArgument("The referenced transaction has expired or is no longer valid.")),
            2);
}

TEST_F(TransactionTest, GivesUpAfterSoManyAttempts) {
  FailCommits(100, Status(Code::kAborted, "contention"));
  EXPECT_EQ(RunEmpty({.attempts_max = 3}), Status(Code::kAborted, "contention"));
  EXPECT_EQ(transport_->calls().size(), 9u);
}

TEST_F(TransactionTest, AReadOnlyOneIsTriedOnce) {
  FailCommits(100, Status(Code::kAborted, "contention"));
  EXPECT_EQ(RunEmpty({.read_only = true}).code(), Code::kAborted);
  EXPECT_EQ(transport_->calls().size(), 3u);
}

TEST_F(TransactionTest, AFailedReadIsTriedAgain) {
  int reads = 0;
  transport_->on_get = [&reads] {
    return ++reads == 1 ? Status(Code::kAborted, "contention") : Status();
  };
  const Status status = db_.RunTransaction([this](Transaction& transaction) -> Status {
    // The caller's additions to the message do not matter.
    return transaction.Get(db_.Doc("rooms/a")).status().While("reading the room");
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(transport_->calls(),
            (Texts{"begin", "get", "rollback t1", "begin after t1", "get", "commit t2"}));
}

TEST_F(TransactionTest, AFailedBeginIsTriedAgain) {
  int begins = 0;
  transport_->on_begin = [&begins]() -> Result<std::string> {
    if (++begins < 3) return Status(Code::kUnavailable, "not yet");
    return std::string("t");
  };
  EXPECT_TRUE(RunEmpty().ok());
  EXPECT_EQ(transport_->calls(), (Texts{"begin", "begin", "begin", "commit t"}));
}

TEST(BackoffTest, DoublesUpToABound) {
  for (const uint64_t random : {uint64_t{0}, uint64_t{12'345}, ~uint64_t{0}}) {
    auto full = kFirstPause;
    for (size_t failures = 1; failures < 40; ++failures) {
      const auto pause = PauseAfter(failures, random);
      EXPECT_GE(pause, full / 2);
      EXPECT_LE(pause, full);
      full = std::min(kPauseMax, full * 2);
    }
  }
}

}  // namespace
}  // namespace hearth::client
