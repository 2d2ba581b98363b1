// The machine's clock at the start.
#include <signal.h>

#include "process/process.h"

namespace hearth::process {
namespace {

constexpr std::chrono::hours kTwentyYears{20 * 365 * 24};

TEST(MachineClock, YearsAheadIsRefusedUnlessAccepted) {
  const TemporaryFolder folder;
  const std::string data = folder / "data";
  ExpectRefusal(*TryToServeAhead(data, kTwentyYears), "--accept-clock");
  {
    const auto accepted = TryToServeAhead(data, kTwentyYears, {"--accept-clock"});
    ASSERT_TRUE(accepted->WaitUntilListening()) << accepted->Stderr();
    FirestoreClient client(accepted->port());
    EXPECT_EQ(Put(client, "rooms/r1", "hello"), Status());
    accepted->Signal(SIGTERM);
    EXPECT_EQ(accepted->Wait().code, 0);
  }
  {
    // From now on the data shows that the clock is right.
    const auto again = TryToServeAhead(data, kTwentyYears);
    ASSERT_TRUE(again->WaitUntilListening()) << again->Stderr();
    FirestoreClient client(again->port());
    EXPECT_EQ(*Get(client, "rooms/r1"), "hello");
  }
  const auto set_back = Serve(data);
  set_back->Signal(SIGTERM);
  EXPECT_EQ(set_back->Wait().code, 0);
  EXPECT_NE(set_back->Stderr().find("the newest data is from"), std::string::npos)
      << set_back->Stderr();
}

}  // namespace
}  // namespace hearth::process
