#include "attack/long_work.h"

#include <string>
#include <vector>

namespace hearth::attack {

using http::TestHttp2Client;

void LongWorkTest::SetUp() {
  server_ = process::Serve(folder_ / "data", {"--cache-mib", "8"});
  other_ = std::make_unique<support::FirestoreClient>(server_->port());
}

double LongWorkTest::LongReads() const {
  return Metric(server_->port(), folder_ / "data", "hearth_long_reads");
}

void LongWorkTest::AwaitLongReads(const std::function<bool()>& have_ended) const {
  while (LongReads() < 1) ASSERT_FALSE(have_ended()) << "none of them was long";
}

void LongWorkTest::AwaitNoLongReads() const {
  const auto end = std::chrono::steady_clock::now() + support::kPatience;
  while (LongReads() > 0) ASSERT_LT(std::chrono::steady_clock::now(), end);
}

void LongWorkTest::ExpectAbandonedEnd(std::string_view method,
                                      const google::protobuf::MessageLite& request) {
  constexpr size_t kCalls = 16;
  TestHttp2Client greedy(server_->port());
  const auto start = [&] {
    std::vector<int32_t> calls;
    for (size_t i = 0; i < kCalls; ++i) calls.push_back(StartCall(greedy, method, request));
    return calls;
  };
  const auto before = server_->cpu_time();
  for (const int32_t stream : start()) {
    ASSERT_TRUE(greedy.UntilClosed(stream));
    ASSERT_EQ(greedy.answer(stream).grpc_status(), 0);
  }
  const auto whole = server_->cpu_time() - before;

  const std::vector<int32_t> abandoned = start();
  AwaitLongReads([&] { return !greedy.RoundTrip() || Finished(greedy, abandoned) == kCalls; });
  const auto left = server_->cpu_time();
  for (const int32_t stream : abandoned) greedy.Reset(stream);
  greedy.Flush();
  AwaitNoLongReads();
  const double share = std::chrono::duration<double>(server_->cpu_time() - left) / whole;
  RecordProperty("share_percent", static_cast<int>(100 * share));
  EXPECT_LT(share, 0.5);
}

}  // namespace hearth::attack
