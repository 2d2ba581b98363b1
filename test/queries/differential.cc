#include "queries/differential.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/testing/test_engine.h"
#include "queries/asking.h"
#include "queries/brute_force.h"
#include "queries/generator.h"
#include "queries/index_check.h"

namespace hearth::queries {
namespace {

using engine::TestEngine;
using index::Definition;
using request::Consistency;
using request::TransactionOptions;

constexpr size_t kQueriesInRound = 60;
// Occasionally there are more documents than plans look ahead.
constexpr size_t kLargeRoundOneIn = 100;
constexpr size_t kQueriesInLargeRound = 15;
constexpr size_t kMoreIds = 1'000;
constexpr size_t kDeclaredIndexesMax = 50;

// The database after one commit.
struct State {
  model::Timestamp time;
  Documents documents;
};

class DifferentialRound {
 public:
  DifferentialRound(uint64_t seed, Tally* tally)
      : is_large_(seed % kLargeRoundOneIn == 0),
        generator_(seed, is_large_ ? kMoreIds : 0),
        tally_(*tally),
        engine_(OptionsOf(is_large_ ? 1'000 : 40, &generator_.dice())) {}

  std::string Run() {
    for (int commit = 0; commit < 6; ++commit) WriteSome(is_large_ ? 800 : 14);
    MakeQueries();
    for (const RandomQuery& random : queries_) {
      if (std::string report = AskNow(random, "without indexes"); !report.empty()) return report;
    }
    DeclareSomeIndexes();
    if (std::string report = AskAll("while indexes are built"); !report.empty()) return report;
    engine_.engine().AwaitIndexes();
    if (std::string report = AskAll("with indexes"); !report.empty()) return report;
    engine_.engine().AwaitIndexes();
    for (const std::string& fault : IndexFaults(engine_.store())) return "index entry " + fault;
    return "";
  }

 private:
  static engine::EngineOptions OptionsOf(size_t step_documents_max, Dice* dice) {
    engine::EngineOptions options;
    const bool on_demand = dice->OneIn(3);
    options.reads_without_index_max = on_demand ? 0 : std::numeric_limits<uint32_t>::max();
    options.indexes.step_documents_max = 1 + dice->Below(step_documents_max);
    return options;
  }

  Dice& dice() { return generator_.dice(); }
  const Documents& documents() const { return states_.back().documents; }

  void WriteSome(size_t writes_max) {
    Documents next = states_.empty() ? Documents{} : documents();
    std::vector<request::Write> writes;
    for (size_t count = 1 + dice().Below(writes_max); count > 0; --count) {
      const std::string path = generator_.Path();
      if (dice().OneIn(6)) {
        next.erase(path);
        writes.push_back(Delete(path));
        continue;
      }
      Document document = generator_.Fields();
      if (const auto old = next.find(path); old != next.end() && dice().OneIn(2)) {
        // An update that keeps most fields.
        Document changed = *old->second;
        for (const char* name : {"a", "n", "t"}) {
          if (dice().OneIn(2) && document.contains(name)) changed[name] = document[name];
        }
        document = std::move(changed);
      }
      writes.push_back(WriteOf(path, document));
      next[path] = std::make_shared<const Document>(std::move(document));
    }
    engine_.clock().Advance(std::chrono::milliseconds(1));
    states_.push_back({engine_.MustCommit(std::move(writes)), std::move(next)});
  }

  void MakeQueries() {
    while (queries_.size() < (is_large_ ? kQueriesInLargeRound : kQueriesInRound)) {
      RandomQuery random = generator_.Query(documents());
      const Result<query::NormalizedQuery> normalized = NormalizeRandom(random);
      if (!normalized.ok()) {
        CHECK(normalized.status().code() == Code::kInvalidArgument);
        ++tally_.rejected;
        continue;
      }
      ++tally_.queries;
      if (!Evaluate(random.query, documents()).empty()) ++tally_.non_empty;
      queries_.push_back(std::move(random));
    }
  }

  // Not all indexes that would help: plans that use only some must be right too.
  void DeclareSomeIndexes() {
    const size_t percent = dice().OneIn(3) ? 40 : 100;
    for (const RandomQuery& random : queries_) {
      for (Definition& definition : UsefulIndexes(random)) {
        if (dice().Below(100) >= percent || definition.fields.size() > 5) continue;
        if (dice().OneIn(12) && !definition.fields.empty()) {
          definition.fields.pop_back();
          definition = index::Canonical(std::move(definition));
        }
        declared_.push_back(std::move(definition));
      }
    }
    while (declared_.size() > kDeclaredIndexesMax) {
      std::swap(declared_[dice().Below(declared_.size())], declared_.back());
      declared_.pop_back();
    }
    const model::DatabaseNumber database = engine_.database().number;
    engine_.Close();
    CHECK(DeclareIndexes(declared_, database, &engine_.store()).ok());
    engine_.Restart();
  }

  std::string AskAll(const std::string& mode) {
    for (const RandomQuery& random : queries_) {
      if (dice().OneIn(4)) WriteSome(3);
      if (std::string report = AskNow(random, mode); !report.empty()) return report;
      if (dice().OneIn(2)) {
        const State& state = states_[dice().Below(states_.size())];
        std::string report = Ask(random, state, state.time, mode + ", earlier");
        if (!report.empty()) return report;
      }
      if (dice().OneIn(4)) {
        std::string report = AskInTransaction(random, mode);
        if (!report.empty()) return report;
      }
    }
    return "";
  }

  std::string AskInTransaction(const RandomQuery& random, const std::string& mode) {
    const bool is_past = dice().OneIn(2);
    const State& state = is_past ? states_[dice().Below(states_.size())] : states_.back();
    TransactionOptions options;
    if (is_past) {
      options.mode = TransactionOptions::Mode::kReadOnly;
      options.read_time = state.time;
    }
    const std::string id = engine_.Begin(options);
    std::string report =
        Ask(random, state, request::InTransaction{id}, mode + ", in a transaction");
    CHECK(engine_.Rollback(id).ok());
    return report;
  }

  std::string AskNow(const RandomQuery& random, const std::string& mode) {
    return Ask(random, states_.back(), request::Now{}, mode);
  }

  std::string Ask(const RandomQuery& random, const State& state, const Consistency& consistency,
                  const std::string& mode) {
    ++tally_.cases;
    const std::optional<std::string> difference =
        Difference(random, state.documents, consistency, &engine_);
    if (!difference) return "";
    std::vector<Definition> indexes;
    for (const auto& [number, record] : StoredIndexes(engine_.store())) {
      indexes.push_back(record.definition);
    }
    const Failure failure{state.documents, random, indexes};
    const std::optional<Shrunk> shrunk = Shrink(failure);
    std::string report = mode + "\n" + *difference + "\n";
    if (shrunk) return report + Show(shrunk->failure) + "\n" + shrunk->difference + "\n";
    report += "does not happen again on a fresh engine\n" + Show(failure.random.query) + "\n";
    for (const std::string& fault : IndexFaults(engine_.store())) report += fault + "\n";
    return report;
  }

  const bool is_large_;
  Generator generator_;
  Tally& tally_;
  TestEngine engine_;
  std::vector<State> states_;
  std::vector<RandomQuery> queries_;
  std::vector<Definition> declared_;
};

}  // namespace

std::string RunDifferentialRound(uint64_t seed, Tally* tally) {
  return DifferentialRound(seed, tally).Run();
}

}  // namespace hearth::queries
