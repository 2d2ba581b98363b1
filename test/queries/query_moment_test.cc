// A query's answer is that of one moment, regardless of concurrent and later writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/status_macros.h"
#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "engine/testing/test_engine.h"
#include "queries/asking.h"
#include "queries/brute_force.h"
#include "queries/generator.h"
#include "queries/index_check.h"

namespace hearth::queries {
namespace {

using engine::TestEngine;
using index::Definition;

// The database from one commit on.
struct State {
  model::Timestamp time;
  Documents documents;
};

// The answer to a query.
struct Answer {
  size_t query;
  model::Timestamp read_time;
  std::vector<std::string> paths;
};

Result<Answer> Ask(size_t number, const RandomQuery& random, TestEngine* engine) {
  ASSIGN_OR_RETURN(const std::unique_ptr<engine::QueryRun> run,
                   engine->StartQuery(*NormalizeRandom(random)).Take());
  Answer answer{number, run->read_time(), {}};
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<request::QueryResult> next, run->Next());
    if (!next) return answer;
    answer.paths.push_back(next->path.path());
  }
}

class QueryMomentTest : public testing::Test {
 protected:
  QueryMomentTest() { ConfigureLog(LogLevel::kWarning, LogFormat::kText); }

  State Write(const Documents& before, size_t writes_max, TestEngine* engine) {
    State next{{}, before};
    std::vector<request::Write> writes;
    for (size_t count = 1 + generator_.dice().Below(writes_max); count > 0; --count) {
      const std::string path = generator_.Path();
      if (generator_.dice().OneIn(4)) {
        next.documents.erase(path);
        writes.push_back(Delete(path));
      } else {
        const auto document = std::make_shared<const Document>(generator_.Fields());
        next.documents[path] = document;
        writes.push_back(WriteOf(path, *document));
      }
    }
    next.time = engine->MustCommit(std::move(writes));
    return next;
  }

  std::vector<RandomQuery> Queries(size_t count, const Documents& documents) {
    std::vector<RandomQuery> queries;
    while (queries.size() < count) {
      RandomQuery random = generator_.Query(documents);
      random.aggregations.clear();
      if (NormalizeRandom(random).ok()) queries.push_back(std::move(random));
    }
    return queries;
  }

  static void DeclareFor(const std::vector<RandomQuery>& queries, TestEngine* engine) {
    const model::DatabaseNumber database = engine->database().number;
    engine->Close();
    for (const RandomQuery& random : queries) {
      std::vector<Definition> useful = UsefulIndexes(random);
      std::erase_if(useful, [](const Definition& each) { return each.fields.size() > 5; });
      ASSERT_TRUE(DeclareIndexes(useful, database, &engine->store()).ok());
    }
    engine->Restart();
  }

  const uint64_t seed_ = TestSeed();
  Generator generator_{seed_};
};

TEST_F(QueryMomentTest, WritersBesideQueriesDoNotShow) {
  constexpr size_t kReaders = 2;
  engine::EngineOptions options;
  options.indexes.step_documents_max = 10;
  TestEngine engine(options);
  std::vector<State> states = {Write({}, 120, &engine)};
  const std::vector<RandomQuery> queries = Queries(20, states.back().documents);
  DeclareFor(queries, &engine);

  std::atomic<bool> is_done = false;
  std::vector<std::vector<Answer>> answers(kReaders);
  std::vector<std::thread> readers;
  for (size_t reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      Dice dice(seed_ + reader);
      while (!is_done) {
        const size_t number = dice.Below(queries.size());
        Result<Answer> answer = Ask(number, queries[number], &engine);
        ASSERT_TRUE(answer.ok()) << answer.status().ToString() << Show(queries[number].query);
        answers[reader].push_back(*std::move(answer));
      }
    });
  }
  for (int commit = 0; commit < 400; ++commit) {
    states.push_back(Write(states.back().documents, 6, &engine));
  }
  is_done = true;
  for (std::thread& reader : readers) reader.join();

  for (const std::vector<Answer>& all : answers) {
    EXPECT_GT(all.size(), 0u);
    for (const Answer& answer : all) {
      const auto later = std::ranges::upper_bound(states, answer.read_time, {}, &State::time);
      ASSERT_NE(later, states.begin());
      const Documents& documents = std::prev(later)->documents;
      ASSERT_EQ(answer.paths, Evaluate(queries[answer.query].query, documents))
          << Show(queries[answer.query].query);
    }
  }
}

// With too many documents to process one by one, the past is read without indexes.
TEST_F(QueryMomentTest, ThePastIsTheSameHoweverMuchHasChanged) {
  TestEngine engine;
  const State past = Write({}, 120, &engine);
  const std::vector<RandomQuery> queries = Queries(TestRounds(60), past.documents);
  DeclareFor(queries, &engine);
  engine.engine().AwaitIndexes();
  for (size_t changed = 0; changed <= engine::kChangedDocumentsMax;) {
    std::vector<request::Write> writes = {Delete(generator_.Path())};
    for (size_t batch = 0; batch < 1'000; ++batch, ++changed) {
      writes.push_back(SetNumber("other/n" + std::to_string(changed), 1));
    }
    engine.MustCommit(std::move(writes));
    for (const RandomQuery& random : queries) {
      const auto difference = Difference(random, past.documents, past.time, &engine);
      ASSERT_FALSE(difference.has_value()) << changed << " changed\n"
                                           << *difference << "\n"
                                           << Show(random.query);
    }
  }
}

}  // namespace
}  // namespace hearth::queries
