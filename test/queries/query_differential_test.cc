// Random queries over random documents, answered by the engine in every possible way, compared with
// a brute force. HEARTH_SEED repeats a run; HEARTH_SOAK_SECONDS keeps running with new seeds.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/log.h"
#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "queries/differential.h"

namespace hearth::queries {
namespace {

constexpr size_t kCasesMin = 20'000;
constexpr size_t kReportsMax = 5;

using Seconds = std::chrono::duration<double>;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

void Print(const Tally& tally, double seconds) {
  std::cout << tally.cases << " cases, " << tally.queries << " queries, " << tally.non_empty
            << " with results, " << tally.rejected << " refused, " << seconds << " s" << std::endl;
}

TEST(QueryDifferentialTest, AnswersEqualTheBruteForces) {
  ConfigureLog(LogLevel::kWarning, LogFormat::kText);
  const uint64_t first_seed = TestSeed();
  const char* soak = std::getenv("HEARTH_SOAK_SECONDS");
  const double seconds = soak ? std::strtod(soak, nullptr) : 0;
  const auto start = std::chrono::steady_clock::now();
  Tally tally;
  size_t reports = 0;
  const size_t cases_min = soak ? 1 : TestRounds(kCasesMin);
  for (uint64_t seed = first_seed; tally.cases < cases_min || SecondsSince(start) < seconds;
       ++seed) {
    if (soak) std::cout << "round HEARTH_SEED=" << seed << std::endl;
    const std::string report = RunDifferentialRound(seed, &tally);
    if (!report.empty()) ADD_FAILURE() << "HEARTH_SEED=" << seed << ": " << report;
    if (!report.empty() && ++reports == kReportsMax) break;
    if (soak) Print(tally, SecondsSince(start));
  }
  Print(tally, SecondsSince(start));
  if (tally.cases < kCasesMin) return;  // A single round is too small to check shares.
  EXPECT_LT(tally.rejected, (tally.queries + tally.rejected) / 3);
  EXPECT_GT(tally.non_empty, tally.queries / 2);
}

}  // namespace
}  // namespace hearth::queries
