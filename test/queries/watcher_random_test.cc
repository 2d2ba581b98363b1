// Random listeners with concurrent random writers: every snapshot that a listener receives equals
// the result of a query at the same moment. HEARTH_SEED repeats a run, as far as threads allow;
// HEARTH_SOAK_SECONDS keeps running with new seeds.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/log.h"
#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "queries/watch_round.h"

namespace hearth::queries {
namespace {

constexpr size_t kChecksMin = 20'000;
constexpr size_t kReportsMax = 3;

using Seconds = std::chrono::duration<double>;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

void Print(const WatchTally& tally, double seconds) {
  std::cout << tally.checks << " checks, " << tally.non_empty << " with documents, "
            << tally.snapshots << " snapshots, " << tally.commits << " commits, " << tally.resumed
            << " resumed, " << tally.resets << " resets, " << tally.filters << " filters, "
            << seconds << " s" << std::endl;
}

TEST(WatcherRandomTest, SnapshotsEqualQueriesAtTheirMoments) {
  ConfigureLog(LogLevel::kError, LogFormat::kText);
  const uint64_t first_seed = TestSeed();
  const char* soak = std::getenv("HEARTH_SOAK_SECONDS");
  const double seconds = soak ? std::strtod(soak, nullptr) : 0;
  const size_t checks_min = soak ? 1 : TestRounds(kChecksMin);
  const auto start = std::chrono::steady_clock::now();
  WatchTally tally;
  size_t reports = 0;
  for (uint64_t seed = first_seed; tally.checks < checks_min || SecondsSince(start) < seconds;
       ++seed) {
    const std::string report = RunWatchRound(seed, &tally);
    if (!report.empty()) ADD_FAILURE() << "HEARTH_SEED=" << seed << ": " << report;
    if (!report.empty() && ++reports == kReportsMax) break;
    if (soak) Print(tally, SecondsSince(start));
  }
  Print(tally, SecondsSince(start));
  EXPECT_GT(tally.non_empty, tally.checks / 4);
}

}  // namespace
}  // namespace hearth::queries
