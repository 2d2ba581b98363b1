#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hearth::queries {

// What the rounds so far have done.
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

// Has threads write random documents while clients listen to random queries and documents: they add
// and remove targets, stop reading, lose their connections and come back with what they had, after
// a restart of the engine too. Whenever one is told that its targets are at one moment, what it
// has of each is compared with a query at that moment. Returns a report of the first difference;
// empty if all is well.
std::string RunWatchRound(uint64_t seed, WatchTally* tally);

}  // namespace hearth::queries
