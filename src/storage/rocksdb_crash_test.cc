// kill -9 at random times: all acknowledged commits survive, and of the others at most the one in
// progress.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <string>

#include "base/testing/test_seed.h"
#include "storage/store_contract.h"

namespace hearth::storage {
namespace {

constexpr int kKills = 12;
constexpr uint64_t kAcknowledgedMax = 200;  // The largest number of commits before the kill.

// Commit `number` writes the number to all spaces, and its own value to one key.
Batch CommitOf(uint64_t number) {
  Batch batch;
  for (size_t space = 0; space < kSpaces; ++space) {
    batch.Put(static_cast<Space>(space), "newest", std::to_string(number));
  }
  batch.Put(Space::kDocuments, "key" + std::to_string(number),
            std::string(number * 37 % 3000, static_cast<char>(number)));
  if (number % 3 == 0) batch.Delete(Space::kDocuments, "key" + std::to_string(number / 2));
  return batch;
}

bool IsDeleted(uint64_t key, uint64_t newest) {
  for (const uint64_t number : {2 * key, 2 * key + 1}) {
    if (number % 3 == 0 && number > key && number <= newest) return true;
  }
  return false;
}

// Commits from `first` on, reporting each acknowledged commit, until it is killed.
[[noreturn]] void CommitUntilKilled(const RocksDbOptions& options, uint64_t first, int told) {
  Result<std::unique_ptr<Store>> store = OpenRocksDbStore(options);
  if (!store.ok()) _exit(1);
  for (uint64_t number = first;; ++number) {
    if (!(*store)->Commit(CommitOf(number)).ok()) _exit(2);
    if (write(told, &number, sizeof(number)) != sizeof(number)) _exit(3);
  }
}

// Runs a child until it has acknowledged `commits` commits, kills it, and returns the number of the
// last acknowledged commit.
uint64_t RunAndKill(const RocksDbOptions& options, uint64_t first, uint64_t commits) {
  int told[2] = {};
  EXPECT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) CommitUntilKilled(options, first, told[1]);
  close(told[1]);
  uint64_t last = first - 1;
  uint64_t number = 0;
  const auto next = [&] { return read(told[0], &number, sizeof(number)) == sizeof(number); };
  while (last + 1 < first + commits && next()) last = number;
  EXPECT_EQ(kill(child, SIGKILL), 0);
  int ended = 0;
  EXPECT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_TRUE(WIFSIGNALED(ended)) << "exit " << WEXITSTATUS(ended);
  while (next()) last = number;
  close(told[0]);
  return last;
}

// The number of the newest commit in `store`, after checking that all commits up to it are
// complete.
uint64_t CheckAll(const Store& store) {
  const std::unique_ptr<Snapshot> snapshot = store.NewSnapshot();
  const std::optional<std::string> newest = *snapshot->Get(Space::kMeta, "newest");
  if (!newest) return 0;
  for (size_t space = 0; space < kSpaces; ++space) {
    EXPECT_EQ(*snapshot->Get(static_cast<Space>(space), "newest"), newest);
  }
  const uint64_t last = std::stoull(*newest);
  for (uint64_t number = 1; number <= last; ++number) {
    const std::optional<std::string> value =
        *snapshot->Get(Space::kDocuments, "key" + std::to_string(number));
    if (IsDeleted(number, last)) {
      EXPECT_EQ(value, std::nullopt) << number;
    } else {
      EXPECT_EQ(value, std::string(number * 37 % 3000, static_cast<char>(number))) << number;
    }
  }
  EXPECT_EQ(*snapshot->Get(Space::kDocuments, "key" + std::to_string(last + 1)), std::nullopt);
  return last;
}

// Opens the store in a child process, checks it, and returns the number of the newest commit. The
// test's own process never opens a store: RocksDB's threads would not survive the forks.
uint64_t CheckInChild(const RocksDbOptions& options) {
  int told[2] = {};
  EXPECT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    Result<std::unique_ptr<Store>> store = OpenRocksDbStore(options);
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    if (!store.ok()) _exit(1);
    const uint64_t newest = CheckAll(**store);
    const bool sent = write(told[1], &newest, sizeof(newest)) == sizeof(newest);
    _exit(sent && !testing::Test::HasFailure() ? 0 : 2);
  }
  close(told[1]);
  uint64_t newest = 0;
  EXPECT_EQ(read(told[0], &newest, sizeof(newest)), sizeof(newest));
  close(told[0]);
  int ended = 0;
  EXPECT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  return newest;
}

TEST(RocksDbCrashTest, KillsLoseNothingThatWasAcknowledged) {
  const uint64_t seed = TestSeed();
  std::mt19937_64 random(seed);
  const TemporaryFolder folder;
  // Small buffers, so that kills hit flushes and compactions as well.
  const RocksDbOptions options = {.path = folder / "data", .write_buffer_bytes = size_t{256} << 10};
  uint64_t newest = 0;
  for (int round = 0; round < kKills && !testing::Test::HasFailure(); ++round) {
    const uint64_t acknowledged = RunAndKill(options, newest + 1, random() % kAcknowledgedMax);
    newest = CheckInChild(options);
    EXPECT_GE(newest, acknowledged);
    EXPECT_LE(newest, acknowledged + 1);
  }
}

}  // namespace
}  // namespace hearth::storage
