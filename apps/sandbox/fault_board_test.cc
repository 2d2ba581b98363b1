#include "apps/sandbox/fault_board.h"

#include <gtest/gtest.h>

namespace hearth::sandbox {
namespace {

class FaultBoardTest : public testing::Test {
 protected:
  void Add(const char* json) {
    const Result<Fault> added = board_.Add(json);
    ASSERT_TRUE(added.ok()) << added.status().ToString();
  }

  FaultBoard board_{{"hn", "other"}};
};

TEST_F(FaultBoardTest, WithoutFaultsRequestsAreOnlyCounted) {
  EXPECT_EQ(board_.OnRequest("hn", "/a"), std::nullopt);
  EXPECT_EQ(board_.OnRequest("hn", "/b"), std::nullopt);
  EXPECT_EQ(board_.request_counts().at("hn"), 2u);
  EXPECT_EQ(board_.request_counts().at("other"), 0u);
}

TEST_F(FaultBoardTest, AFaultLastsUntilItIsCleared) {
  Add(R"({"service": "hn", "fault": "error"})");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(board_.OnRequest("hn", "/a")->kind, FaultKind::kError);
  board_.Clear();
  EXPECT_EQ(board_.OnRequest("hn", "/a"), std::nullopt);
}

TEST_F(FaultBoardTest, TimesAreCountedDownAndTheNextFaultFollows) {
  Add(R"({"service": "hn", "fault": "error", "times": 2})");
  Add(R"({"service": "hn", "fault": "garbage", "times": 1})");
  EXPECT_EQ(board_.OnRequest("hn", "/a")->kind, FaultKind::kError);
  EXPECT_EQ(board_.faults()[0].times_left, 1u);
  EXPECT_EQ(board_.OnRequest("hn", "/a")->kind, FaultKind::kError);
  EXPECT_EQ(board_.OnRequest("hn", "/a")->kind, FaultKind::kGarbage);
  EXPECT_EQ(board_.OnRequest("hn", "/a"), std::nullopt);
}

TEST_F(FaultBoardTest, AFaultConcernsItsServiceAndPathOnly) {
  Add(R"({"service": "hn", "fault": "refuse", "path": "/v0/item/"})");
  EXPECT_EQ(board_.OnRequest("other", "/v0/item/1.json"), std::nullopt);
  EXPECT_EQ(board_.OnRequest("hn", "/v0/maxitem.json"), std::nullopt);
  EXPECT_EQ(board_.OnRequest("hn", "/v0/item/1.json")->kind, FaultKind::kRefuse);
}

TEST_F(FaultBoardTest, EveryKindIsKnownByItsName) {
  for (const char* kind :
       {"timeout", "error", "rate_limit", "garbage", "slow", "refuse", "wrong_type"}) {
    const nlohmann::json json = {{"service", "hn"}, {"fault", kind}};
    const Result<Fault> added = board_.Add(json.dump());
    ASSERT_TRUE(added.ok()) << kind;
    EXPECT_EQ(added->ToJson()["fault"], kind);
  }
}

TEST_F(FaultBoardTest, RefusesWhatDescribesNoFault) {
  for (const char* wrong :
       {"", "[]", "{}", R"({"service": "hn"})", R"({"fault": "error"})",
        R"({"service": "nobody", "fault": "error"})", R"({"service": "hn", "fault": "fire"})",
        R"({"service": "hn", "fault": "error", "times": 0})",
        R"({"service": "hn", "fault": "error", "times": "two"})",
        R"({"service": "hn", "fault": "error", "path": 7})",
        R"({"service": "hn", "fault": "slow", "pause_ms": -1})",
        R"({"service": "hn", "fault": "error", "tiems": 2})"}) {
    EXPECT_EQ(board_.Add(wrong).status().code(), Code::kInvalidArgument) << wrong;
  }
  EXPECT_TRUE(board_.faults().empty());
}

TEST_F(FaultBoardTest, HoldsNoMoreThanItsLimit) {
  for (size_t i = 0; i < FaultBoard::kFaultsMax; ++i) {
    Add(R"({"service": "hn", "fault": "error"})");
  }
  EXPECT_EQ(board_.Add(R"({"service": "hn", "fault": "error"})").status().code(),
            Code::kResourceExhausted);
}

}  // namespace
}  // namespace hearth::sandbox
