// For tests: the reader on any database, with a scripted Hacker News and a fake clock.
//
// The suite is in the library `hackernews_suite`. A test program links it and names the databases
// to run it on:
//
//   INSTANTIATE_TEST_SUITE_P(Embedded, ReaderTest, testing::Values(...), client::BackendName);
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/hackernews/collections.h"
#include "apps/hackernews/hackernews.h"
#include "apps/hackernews/story.h"
#include "apps/hackernews/testing/fake_hn.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/testing/fake_clock.h"
#include "client/firestore.h"
#include "client/testing/counting_transport.h"
#include "client/testing/transport_contract.h"
#include "kit/web/application.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::hackernews {

inline constexpr int64_t kHourMs = 3'600'000;
inline constexpr int64_t kDayMs = 24 * kHourMs;
inline constexpr int64_t kStartMs = 1'794'744'000'000;  // 2026-11-15T12:00:00Z

class ReaderTest : public testing::TestWithParam<client::ContractBackend> {
 protected:
  ReaderTest();

  // Simulates a restart of the process: nothing in memory.
  void Restart();

  kit::Response Send(const std::string& method, const std::string& target,
                     const std::string& body = "", const std::string& cookie = "",
                     const std::string& peer = "127.0.0.1");
  // To /worker, unless another endpoint is named.
  kit::Response SendWithSecret(const std::string& secret, const std::string& method = "POST",
                               const std::string& path = "/api/v1/worker");
  nlohmann::json Get(const std::string& target, const std::string& cookie = "");
  // The ids in the response of /stories.
  std::vector<int64_t> ListedIds(const std::string& query, const std::string& cookie = "");
  // Signs a user in and returns the cookie.
  std::string SignIn(const std::string& account = "alice");
  // Runs the worker; fails the test on an error.
  nlohmann::json Sync();

  // Writes a story directly to the database.
  void PutStory(int64_t id, int64_t time_ms, int64_t score, int64_t updated_ms);
  void PutStories(const std::vector<Story>& stories);
  client::Map Document(const client::DocumentReference& document);

  int64_t NowMs() const { return clock_.WallMicros() / 1'000; }
  void Advance(int64_t ms) { clock_.Advance(std::chrono::milliseconds(ms)); }

  storage::TemporaryFolder folder_;
  FakeClock clock_{kStartMs * 1'000};
  RandomSource random_{7};
  Metrics metrics_;
  FakeHn hn_;
  std::shared_ptr<client::CountingTransport> counts_;  // Shared with the database's handle.
  client::Firestore database_;
  Collections collections_;
  std::unique_ptr<kit::Application> app_;
};

}  // namespace hearth::hackernews
