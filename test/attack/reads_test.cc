// However many long lists and reads of the past a client asks for: they take its turns only, and
// end when nobody waits for them any more.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attack/attacker.h"

namespace hearth::attack {
namespace {

using http::TestHttp2Client;
using process::Serve;
using process::TemporaryFolder;
using support::FirestoreClient;
using support::ServerProcess;

constexpr size_t kDocuments = 60'000;

class ReadsAttackTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = Serve(folder_ / "data", {"--cache-mib", "8"});
    other_ = std::make_unique<FirestoreClient>(server_->port());
    proto::CommitRequest first;
    first.set_database(support::kDatabase);
    first.add_writes()->mutable_update()->set_name(support::FullName("other/d"));
    const auto committed = other_->Commit(first);
    ASSERT_TRUE(committed.ok());
    before_ = committed->commit_time();
    Fill(*other_, "c", kDocuments, 100);
  }

  // One document, but every one of the collection has to be read.
  static proto::ListDocumentsRequest LongList() {
    proto::ListDocumentsRequest request = ListRequest("c", 1);
    request.set_order_by("n desc");
    return request;
  }
  // Counts the documents at a moment when there were none: all of them have to be passed over.
  proto::RunAggregationQueryRequest PastCount() const {
    proto::RunAggregationQueryRequest request = LongCount("c");
    *request.mutable_read_time() = before_;
    return request;
  }

  // Makes the same call many times, and leaves while they are in progress.
  void ExpectAbandonedEnd(std::string_view method, const google::protobuf::MessageLite& request) {
    constexpr size_t kCalls = 16;
    using Time = std::chrono::steady_clock::time_point;
    const auto now = [] { return std::chrono::steady_clock::now(); };
    TestHttp2Client greedy(server_->port());
    const auto start = [&] {
      std::vector<int32_t> calls;
      for (size_t i = 0; i < kCalls; ++i) calls.push_back(StartCall(greedy, method, request));
      return calls;
    };
    const Time before = now();
    for (const int32_t stream : start()) {
      ASSERT_TRUE(greedy.UntilClosed(stream));
      ASSERT_EQ(greedy.answer(stream).grpc_status(), 0);
    }
    const auto whole = now() - before;

    const std::vector<int32_t> abandoned = start();
    while (LongReads() < 1 && Finished(greedy, abandoned) < kCalls) ASSERT_TRUE(greedy.RoundTrip());
    ASSERT_LT(Finished(greedy, abandoned), kCalls) << "none of them was long";
    const Time left = now();
    for (const int32_t stream : abandoned) greedy.Reset(stream);
    greedy.Flush();
    while (LongReads() > 0) {
    }
    const double share = std::chrono::duration<double>(now() - left) / whole;
    RecordProperty("share_percent", static_cast<int>(100 * share));
    EXPECT_LT(share, 0.5);
  }

  double LongReads() const {
    return Metric(server_->port(), folder_ / "data", "hearth_long_reads");
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<FirestoreClient> other_;
  google::protobuf::Timestamp before_;  // Before the collection was filled.
};

TEST_F(ReadsAttackTest, ListsAreAnsweredBesideThoseOfAGreedyClient) {
  TestHttp2Client greedy(server_->port());
  std::vector<int32_t> lists;
  for (int i = 0; i < 900; ++i) lists.push_back(StartCall(greedy, "ListDocuments", LongList()));
  ASSERT_TRUE(greedy.RoundTrip());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(other_->List(ListRequest("other", 10)).ok());
  ASSERT_TRUE(greedy.RoundTrip());
  EXPECT_LT(Finished(greedy, lists), lists.size() / 2);
  // There is a place for another client's long list, too.
  const Result<proto::ListDocumentsResponse> page = other_->List(LongList());
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  EXPECT_EQ(page->documents_size(), 1);
  ASSERT_TRUE(greedy.RoundTrip());
  EXPECT_LT(Finished(greedy, lists), lists.size());
}

TEST_F(ReadsAttackTest, AbandonedListsEnd) { ExpectAbandonedEnd("ListDocuments", LongList()); }

TEST_F(ReadsAttackTest, AbandonedReadsOfThePastEnd) {
  ExpectAbandonedEnd("RunAggregationQuery", PastCount());
}

}  // namespace
}  // namespace hearth::attack
