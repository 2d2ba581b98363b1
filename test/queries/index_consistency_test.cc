// The index entries in the store are exactly those of its documents, whatever happens while indexes
// are being built.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "engine/testing/test_engine.h"
#include "queries/asking.h"
#include "queries/generator.h"
#include "queries/index_check.h"

namespace hearth::queries {
namespace {

using engine::TestEngine;
using index::Definition;

engine::EngineOptions SmallSteps(size_t step_documents_max) {
  engine::EngineOptions options;
  options.indexes.step_documents_max = step_documents_max;
  return options;
}

std::vector<request::Write> RandomWrites(size_t count_max, Generator* generator) {
  std::vector<request::Write> writes;
  for (size_t count = 1 + generator->dice().Below(count_max); count > 0; --count) {
    const std::string path = generator->Path();
    writes.push_back(generator->dice().OneIn(5) ? Delete(path)
                                                : WriteOf(path, generator->Fields()));
  }
  return writes;
}

// Indexes that random queries could use.
std::vector<Definition> RandomIndexes(size_t count, Generator* generator) {
  std::set<Definition> definitions;
  while (definitions.size() < count) {
    const RandomQuery random = generator->Query({});
    if (!NormalizeRandom(random).ok()) continue;
    for (Definition& definition : UsefulIndexes(random)) {
      if (definition.fields.size() <= 4) definitions.insert(std::move(definition));
    }
  }
  return {definitions.begin(), definitions.end()};
}

void Declare(const std::vector<Definition>& definitions, TestEngine* engine) {
  const model::DatabaseNumber database = engine->database().number;
  engine->Close();
  ASSERT_TRUE(DeclareIndexes(definitions, database, &engine->store()).ok());
  engine->Restart();
}

bool AllAreReady(TestEngine* engine) {
  const auto indexes = StoredIndexes(engine->store());
  return std::ranges::all_of(
      indexes, [](const auto& index) { return index.second.state == index::State::kReady; });
}

class IndexConsistencyTest : public testing::Test {
 protected:
  IndexConsistencyTest() { ConfigureLog(LogLevel::kError, LogFormat::kText); }

  void Load(TestEngine* engine) {
    for (int commit = 0; commit < 20; ++commit) engine->MustCommit(RandomWrites(10, &generator_));
  }
  void ExpectComplete(TestEngine* engine) {
    engine->engine().AwaitIndexes();
    EXPECT_TRUE(AllAreReady(engine));
    EXPECT_EQ(IndexFaults(engine->store()), std::vector<std::string>());
  }

  const uint64_t seed_ = TestSeed();
  Generator generator_{seed_};
};

TEST_F(IndexConsistencyTest, SurvivesRestartsInTheMiddleOfBuilds) {
  for (size_t round = 0; round < TestRounds(20); ++round) {
    TestEngine engine(SmallSteps(1 + generator_.dice().Below(5)));
    Load(&engine);
    Declare(RandomIndexes(12, &generator_), &engine);
    for (int restart = 0; restart < 12; ++restart) {
      for (size_t commits = generator_.dice().Below(6); commits > 0; --commits) {
        engine.MustCommit(RandomWrites(4, &generator_));
      }
      engine.Close();
      ASSERT_EQ(IndexFaults(engine.store()), std::vector<std::string>());
      engine.Restart();
    }
    ExpectComplete(&engine);
  }
}

TEST_F(IndexConsistencyTest, SurvivesFailedCommits) {
  const Status failure(Code::kUnavailable, "injected");
  for (size_t round = 0; round < TestRounds(5); ++round) {
    TestEngine engine(SmallSteps(1 + generator_.dice().Below(5)));
    Load(&engine);
    Declare(RandomIndexes(8, &generator_), &engine);
    size_t failed = 0;
    for (int step = 0; step < 40; ++step) {
      if (generator_.dice().OneIn(3)) {
        engine.store().FailCommit(1 + generator_.dice().Below(4), failure);
      }
      // Fails, or makes this or a later step of the build fail.
      if (!engine.Commit(RandomWrites(4, &generator_)).ok()) ++failed;
      // A restart also skips the build's pause after an error.
      if (generator_.dice().OneIn(4)) engine.Restart();
    }
    EXPECT_GT(failed, 0u);
    engine.store().FailCommit(0, Status());
    engine.Restart();
    ExpectComplete(&engine);
  }
}

TEST_F(IndexConsistencyTest, SurvivesWritersDuringBuilds) {
  constexpr size_t kWriters = 3;
  for (size_t round = 0; round < TestRounds(8); ++round) {
    TestEngine engine(SmallSteps(1 + generator_.dice().Below(10)));
    Load(&engine);
    Declare(RandomIndexes(12, &generator_), &engine);
    std::vector<std::thread> writers;
    for (size_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back(
          [&engine, seed = seed_ + 100 * (writer + 1) + static_cast<size_t>(round)] {
            Generator generator(seed);
            for (int commit = 0; commit < 150; ++commit) {
              engine.MustCommit(RandomWrites(3, &generator));
            }
          });
    }
    for (std::thread& writer : writers) writer.join();
    ExpectComplete(&engine);
  }
}

}  // namespace
}  // namespace hearth::queries
