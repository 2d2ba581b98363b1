#include "queries/asking.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "execution/conjunction_shape.h"
#include "execution/sort_key.h"
#include "model/document.h"
#include "queries/brute_force.h"
#include "queries/index_check.h"

namespace hearth::queries {
namespace {

using engine::QueryRun;
using engine::TestEngine;
using index::Definition;
using request::Consistency;

std::string ShowValues(const std::vector<Tree>& values) {
  std::string shown;
  for (const Tree& value : values) shown += " " + Show(value);
  return shown;
}

bool AreSame(const std::vector<Tree>& left, const std::vector<Tree>& right) {
  return std::ranges::equal(left, right, [](const Tree& l, const Tree& r) {
    return l.type == r.type && CompareTrees(l, r) == 0;
  });
}

std::optional<std::string> DifferenceOfValues(const RandomQuery& random, const Documents& documents,
                                              QueryRun* run) {
  const Result<std::vector<std::string>> encoded = run->Aggregate(random.aggregations);
  if (!encoded.ok()) return "error: " + encoded.status().ToString();
  std::vector<Tree> values;
  for (const std::string& value : *encoded) values.push_back(DecodeTree(model::ValueView(value)));
  const std::vector<Tree> expected =
      EvaluateAggregations(random.query, random.aggregations, documents);
  if (AreSame(values, expected)) return std::nullopt;
  return "expected" + ShowValues(expected) + "\ngot     " + ShowValues(values);
}

std::optional<std::string> DifferenceOfPaths(const RandomQuery& random, const Documents& documents,
                                             QueryRun* run) {
  std::vector<std::string> paths;
  while (true) {
    const Result<std::optional<request::QueryResult>> next = run->Next();
    if (!next.ok()) return "error: " + next.status().ToString();
    if (!*next) break;
    paths.push_back((*next)->path.path());
    const auto document = documents.find(paths.back());
    if (document == documents.end()) return "a document that does not exist: " + paths.back();
    if (model::RecordFields(*(*next)->record) != EncodeDocumentFields(*document->second)) {
      return "a document with other fields than it has: " + paths.back();
    }
  }
  const std::vector<std::string> expected = Evaluate(random.query, documents);
  if (paths == expected) return std::nullopt;
  return "expected" + ShowPaths(expected) + "\ngot     " + ShowPaths(paths);
}

// The filters that result from leaving out one part of this filter.
std::vector<query::Filter> SmallerFilters(const query::Filter& filter) {
  const auto* composite = std::get_if<query::CompositeFilter>(&filter.filter);
  if (composite == nullptr) return {};
  std::vector<query::Filter> smaller = composite->filters;
  for (size_t i = 0; i < composite->filters.size(); ++i) {
    query::CompositeFilter without = *composite;
    without.filters.erase(without.filters.begin() + static_cast<ptrdiff_t>(i));
    if (!without.filters.empty()) smaller.push_back({without});
    for (query::Filter& child : SmallerFilters(composite->filters[i])) {
      query::CompositeFilter changed = *composite;
      changed.filters[i] = std::move(child);
      smaller.push_back({std::move(changed)});
    }
  }
  return smaller;
}

std::vector<RandomQuery> SmallerQueries(const RandomQuery& random) {
  std::vector<RandomQuery> smaller;
  const auto add = [&](auto change) {
    smaller.push_back(random);
    change(&smaller.back());
  };
  if (random.query.where) {
    add([](RandomQuery* less) { less->query.where.reset(); });
    for (const query::Filter& filter : SmallerFilters(*random.query.where)) {
      add([&](RandomQuery* less) { less->query.where = filter; });
    }
  }
  for (size_t i = 0; i < random.query.orders.size(); ++i) {
    add([i](RandomQuery* less) {
      less->query.orders.erase(less->query.orders.begin() + static_cast<ptrdiff_t>(i));
      for (auto* bound : {&less->query.start, &less->query.end}) {
        if (!*bound || (*bound)->values.size() <= i) continue;
        (*bound)->values.erase((*bound)->values.begin() + static_cast<ptrdiff_t>(i));
      }
    });
  }
  if (random.query.start) add([](RandomQuery* less) { less->query.start.reset(); });
  if (random.query.end) add([](RandomQuery* less) { less->query.end.reset(); });
  if (random.query.limit) add([](RandomQuery* less) { less->query.limit.reset(); });
  if (random.query.offset > 0) add([](RandomQuery* less) { less->query.offset = 0; });
  if (random.aggregations.size() > 1) {
    add([](RandomQuery* less) { less->aggregations.pop_back(); });
    add([](RandomQuery* less) { less->aggregations.erase(less->aggregations.begin()); });
  }
  return smaller;
}

// How this fails on a fresh engine; nullopt if it does not.
std::optional<std::string> Replay(const Failure& failure) {
  if (!NormalizeRandom(failure.random).ok()) return std::nullopt;
  engine::EngineOptions options;
  options.reads_without_index_max = std::numeric_limits<uint32_t>::max();
  TestEngine engine(options);
  std::vector<request::Write> writes;
  for (const auto& [path, document] : failure.documents) {
    writes.push_back(WriteOf(path, *document));
  }
  engine.MustCommit(std::move(writes));
  const model::DatabaseNumber database = engine.database().number;
  engine.Close();
  CHECK(DeclareIndexes(failure.indexes, database, &engine.store()).ok());
  engine.Restart();
  engine.engine().AwaitIndexes();
  return Difference(failure.random, failure.documents, request::Now{}, &engine);
}

}  // namespace

Result<query::NormalizedQuery> NormalizeRandom(const RandomQuery& random) {
  return random.aggregations.empty() ? query::Normalize(random.query)
                                     : query::Normalize(random.query, random.aggregations);
}

std::optional<std::string> Difference(const RandomQuery& random, const Documents& documents,
                                      const Consistency& consistency, TestEngine* engine) {
  using engine::QueryAnswer;
  Result<std::unique_ptr<QueryRun>> run =
      engine
          ->StartQuery(
              *NormalizeRandom(random), consistency,
              random.aggregations.empty() ? QueryAnswer::kDocuments : QueryAnswer::kAggregates)
          .Take();
  if (!run.ok()) return "error: " + run.status().ToString();
  return random.aggregations.empty() ? DifferenceOfPaths(random, documents, run->get())
                                     : DifferenceOfValues(random, documents, run->get());
}

std::vector<Definition> UsefulIndexes(const RandomQuery& random) {
  std::set<Definition> useful;
  const query::NormalizedQuery normalized = *NormalizeRandom(random);
  if (random.query.collection_id.empty()) return {};
  const execution::Layout layout = execution::LayoutOf(normalized);
  for (const query::Conjunction& conjunction : normalized.disjuncts) {
    const execution::ConjunctionShape shape(conjunction);
    useful.insert(DirectIndex(random.query, layout, shape));
    for (Definition& definition : IdealIndexes(random.query, layout, shape)) {
      useful.insert(std::move(definition));
    }
  }
  return {useful.begin(), useful.end()};
}

request::Write WriteOf(const std::string& path, const Document& document) {
  Result<model::Fields> fields = model::Fields::Validate(EncodeDocumentFields(document));
  CHECK(fields.ok());
  return Set(path, *std::move(fields));
}

std::optional<Shrunk> Shrink(Failure failure) {
  std::optional<std::string> difference = Replay(failure);
  if (!difference) return std::nullopt;
  Failure smaller = failure;
  const auto try_smaller = [&] {
    std::optional<std::string> still = Replay(smaller);
    if (still) {
      failure = smaller;
      difference = std::move(still);
    } else {
      smaller = failure;
    }
    return still.has_value();
  };
  const auto shrink_query = [&] {
    for (RandomQuery& less : SmallerQueries(failure.random)) {
      smaller.random = std::move(less);
      if (try_smaller()) return true;
    }
    return false;
  };
  while (shrink_query()) {
  }
  const Documents documents = failure.documents;
  for (const auto& [path, document] : documents) {
    smaller.documents.erase(path);
    try_smaller();
  }
  const std::vector<Definition> indexes = failure.indexes;
  for (const Definition& index : indexes) {
    std::erase(smaller.indexes, index);
    try_smaller();
  }
  while (shrink_query()) {
  }
  return Shrunk{std::move(failure), *std::move(difference)};
}

std::string Show(const Failure& failure) {
  std::string shown = Show(failure.random.query);
  if (!failure.random.aggregations.empty()) shown += "\n  " + Show(failure.random.aggregations);
  for (const Definition& index : failure.indexes) {
    const bool is_group = index.scope == index::QueryScope::kCollectionGroup;
    shown += "\nindex " + index.collection_id + " " + index::Properties(index) +
             (is_group ? " of the group" : "");
  }
  for (const auto& [path, document] : failure.documents) {
    shown += "\n" + path + " " + Show(*document);
  }
  return shown;
}

}  // namespace hearth::queries
