#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hearth::queries {

// Counts over all rounds so far.
struct Tally {
  size_t cases = 0;      // Answers compared.
  size_t non_empty = 0;  // Queries with results.
  size_t queries = 0;    // Distinct queries.
  size_t rejected = 0;   // Queries that were refused.
};

// Creates a database of random documents and runs random queries on it: without indexes, while
// indexes are being built, with indexes, at earlier moments, in transactions, between random
// writes. Returns a report of the first answer that differs from the brute force's, or of index
// entries that do not match the documents; empty if there is none.
std::string RunDifferentialRound(uint64_t seed, Tally* tally);

}  // namespace hearth::queries
