// Puts a query to an engine and compares the answer with the brute force's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/testing/test_engine.h"
#include "index/definition.h"
#include "queries/generator.h"
#include "queries/trees.h"
#include "query/normalize.h"

namespace hearth::queries {

// The query with its implicit parts. InvalidArgument for one that is refused.
Result<query::NormalizedQuery> NormalizeRandom(const RandomQuery& random);

// What differs between the engine's answer and that of the brute force over `documents`; nullopt
// if nothing does. Requires a query that is not refused.
std::optional<std::string> Difference(const RandomQuery& random, const Documents& documents,
                                      const request::Consistency& consistency,
                                      engine::TestEngine* engine);

// All indexes that could help to answer the query.
std::vector<index::Definition> UsefulIndexes(const RandomQuery& random);

request::Write WriteOf(const std::string& path, const Document& document);

// A query that the engine answers wrongly, given these indexes.
struct Failure {
  Documents documents;
  RandomQuery random;
  std::vector<index::Definition> indexes;
};

// The failure with as little in it as still shows it, and what is wrong; nullopt when it does not
// happen again on a fresh engine.
struct Shrunk {
  Failure failure;
  std::string difference;
};
std::optional<Shrunk> Shrink(Failure failure);

std::string Show(const Failure& failure);

}  // namespace hearth::queries
