// For tests: nearest-neighbour searches and their expected results.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/testing/test_engine.h"
#include "query/normalize.h"
#include "vector/distance.h"

namespace hearth::engine {

using Components = std::vector<double>;

inline query::Filter Where(std::string_view field, query::Operator op, std::string value) {
  return {query::FieldFilter{FieldAt(field), op, std::move(value)}};
}

inline query::Filter Combine(query::CompositeFilter::Operator op,
                             std::vector<query::Filter> filters) {
  return {query::CompositeFilter{op, std::move(filters)}};
}

// The `limit` documents of `collection` whose field "v" is nearest.
inline query::Query NearestQuery(std::string collection, Components to, size_t limit,
                                 model::DistanceMeasure measure) {
  query::Query query{Parent(), std::move(collection)};
  query.nearest = query::FindNearest{FieldAt("v"), std::move(to), measure, limit};
  return query;
}

// One result: path and distance.
using Near = std::pair<std::string, double>;

struct NearestAnswer {
  std::vector<Near> results;
  std::vector<query::IndexUse> indexes;
  query::Statistics statistics;
  std::vector<model::Record> records;  // For the results.
};

inline std::unique_ptr<QueryRun> StartQuery(
    TestEngine& engine, query::Query query,
    const request::Consistency& consistency = request::Now()) {
  Result<query::NormalizedQuery> normalized = query::Normalize(std::move(query));
  CHECK(normalized.ok());
  Result<std::unique_ptr<QueryRun>> run =
      engine.StartQuery(*std::move(normalized), consistency).Take();
  CHECK(run.ok());
  return *std::move(run);
}

inline NearestAnswer FindNearest(TestEngine& engine, query::Query query,
                                 const request::Consistency& consistency = request::Now()) {
  const std::unique_ptr<QueryRun> run = StartQuery(engine, std::move(query), consistency);
  NearestAnswer answer;
  answer.indexes = run->indexes_used();
  while (true) {
    Result<std::optional<request::QueryResult>> next = run->Next();
    CHECK(next.ok());
    if (!*next) break;
    answer.results.emplace_back((*next)->path.path(), *(*next)->distance);
    answer.records.push_back((*next)->record);
  }
  answer.statistics = run->statistics();
  return answer;
}

// The nearest of the given vectors, by path: compares all of them; ties are in the order of their
// paths.
inline std::vector<Near> ExpectNearest(const std::map<std::string, Components>& vectors,
                                       const query::FindNearest& wanted) {
  std::vector<Near> all;
  for (const auto& [path, components] : vectors) {
    if (components.size() != wanted.query_vector.size()) continue;
    const double distance = vector::Distance(wanted.measure, wanted.query_vector, components);
    const bool is_too_far =
        wanted.distance_threshold && !(wanted.measure == model::DistanceMeasure::kDotProduct
                                           ? distance >= *wanted.distance_threshold
                                           : distance <= *wanted.distance_threshold);
    if (!is_too_far) all.emplace_back(path, distance);
  }
  std::stable_sort(all.begin(), all.end(), [&](const Near& left, const Near& right) {
    return vector::IsNearer(wanted.measure, left.second, right.second);
  });
  if (all.size() > wanted.limit) all.resize(wanted.limit);
  return all;
}

}  // namespace hearth::engine
