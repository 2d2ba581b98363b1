// Runs a query on an engine and compares the answer with that of the brute force.
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

// The query with its implicit parts. InvalidArgument if it is refused.
Result<query::NormalizedQuery> NormalizeRandom(const RandomQuery& random);

// The difference between the engine's answer and that of the brute force over `documents`; nullopt
// if there is none. Requires a query that is not refused.
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

// A minimal version of the failure, and the difference; nullopt if it cannot be reproduced on a
// fresh engine.
struct Shrunk {
  Failure failure;
  std::string difference;
};
std::optional<Shrunk> Shrink(Failure failure);

std::string Show(const Failure& failure);

}  // namespace hearth::queries
