#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hearth::queries {

// Counts over all rounds so far.
struct WatchTally {
  size_t commits = 0;
  size_t snapshots = 0;
  size_t checks = 0;     // Targets compared with a query of the same moment.
  size_t non_empty = 0;  // Those with documents.
  size_t resumed = 0;
  size_t resets = 0;
  size_t filters = 0;

  void Add(const WatchTally& other);
};

// Threads write random documents while clients listen to random queries and documents: they add and
// remove targets, stop reading, lose their connections and resume with their earlier state, also
// after a restart of the engine. Whenever a client's targets are at one moment, its state of each
// is compared with a query at that moment. Returns a report of the first difference; empty if there
// is none.
std::string RunWatchRound(uint64_t seed, WatchTally* tally);

}  // namespace hearth::queries
