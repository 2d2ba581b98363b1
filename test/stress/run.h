#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stress/accounts.h"
#include "stress/archive.h"
#include "stress/counters.h"
#include "stress/groups.h"
#include "stress/own_documents.h"
#include "stress/referee.h"
#include "support/server_process.h"

namespace hearth::stress {

struct RunOptions {
  std::string server;  // The hearth program.
  std::string data;    // A folder for all data; must exist.
  size_t kills = 300;
  size_t clients = 12;
  uint64_t seed = 0;
};

// Starts the server on one data folder repeatedly, runs clients against it, kills it, and after
// each start compares everything with the answers that the clients got.
//
// Threads: one at a time; runs one thread per client while the server is up.
class Run {
 public:
  explicit Run(const RunOptions& options);

  // True if the server kept every promise.
  bool Execute();

 private:
  enum class End { kKill, kStop };

  std::unique_ptr<support::ServerProcess> Start(const std::string& folder) const;
  // Kills a server that is still opening its data.
  void KillDuringStart();
  // Kills a server that is creating a data folder, and expects the next one to handle the remains.
  void KillDuringCreation();
  void ServeAndEnd(End end);
  void Verify(uint16_t port);
  Status VerifyAll(FirestoreClient& client);
  Status CompareListings(FirestoreClient& client, const World& world) const;
  void RunClient(uint16_t port, size_t client, uint64_t seed);
  void Step(const Session& session, size_t client);
  void SleepMicros(size_t micros_max);
  void Report() const;

  const RunOptions options_;
  const std::string folder_;
  Random random_;
  Referee referee_;
  std::vector<std::unique_ptr<OwnDocuments>> own_;  // By client.
  Groups groups_;
  Counters counters_;
  Accounts accounts_;
  Archive archive_;
  std::vector<Workload*> workloads_;  // All of the above.
  bool accounts_are_open_ = false;
  size_t kills_ = 0;
  size_t stops_ = 0;
};

}  // namespace hearth::stress
