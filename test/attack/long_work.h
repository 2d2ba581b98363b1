// Shared by the attacks with long reads and queries.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "attack/attacker.h"

namespace hearth::attack {

// A server with a small cache, and one client besides the attackers. What work costs is measured as
// processor time of the server, since the machine may be busy with other things.
class LongWorkTest : public testing::Test {
 protected:
  static constexpr size_t kDocuments = 60'000;

  void SetUp() override;

  // Reads and queries in progress that run in slices.
  double LongReads() const;
  // Waits for the first of them. Fails if `have_ended` before that, since then none was long.
  void AwaitLongReads(const std::function<bool()>& have_ended) const;
  void AwaitNoLongReads() const;

  // Makes the same call many times, and leaves while they are in progress. Fails unless the server
  // is spared most of the work.
  void ExpectAbandonedEnd(std::string_view method, const google::protobuf::MessageLite& request);

  const process::TemporaryFolder folder_;
  std::unique_ptr<support::ServerProcess> server_;
  std::unique_ptr<support::FirestoreClient> other_;
};

}  // namespace hearth::attack
