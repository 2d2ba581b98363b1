// However many long lists and reads of the past a client asks for: they take its turns only, and
// end when nobody waits for them any more.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attack/long_work.h"

namespace hearth::attack {
namespace {

using http::TestHttp2Client;
class ReadsAttackTest : public LongWorkTest {
 protected:
  void SetUp() override {
    LongWorkTest::SetUp();
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
