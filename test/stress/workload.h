#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "stress/content.h"
#include "stress/referee.h"

namespace hearth::stress {

// What a client needs to run a step.
struct Session {
  FirestoreClient& client;
  Referee& referee;
  Random& random;
};

// The outcome of a commit.
struct CommitAnswer {
  enum class Kind { kAcknowledged, kRefused, kUnknown };

  Kind kind = Kind::kUnknown;
  Status status;  // Of a refusal.
  Time time{};    // Of a commit that was acknowledged.
  proto::CommitResponse response;

  bool acknowledged() const { return kind == Kind::kAcknowledged; }
  bool refused() const { return kind == Kind::kRefused; }
};

// Sends the commit and checks the times in its answer. A refusal with a code that is not one of
// `refusals` fails the run.
CommitAnswer Commit(const Session& session, const proto::CommitRequest& request,
                    const std::set<Code>& refusals);

// Reads the current state and checks its time; nullopt if there is no result, because the
// connection ended or the read failed, which fails the run.
std::optional<World> Read(const Session& session, const std::vector<std::string>& paths);

// Operations of clients on the workload's own documents, and its model of them.
//
// Threads: many clients call Step concurrently; the rest is called while there are none.
class Workload {
 public:
  virtual ~Workload() = default;

  // One operation of one client.
  virtual void Step(const Session& session) = 0;

  // Its documents, and the collections that contain nothing else.
  virtual std::vector<std::string> Paths() const = 0;

  // Compares the documents with the acknowledged commits and those in progress when the server was
  // killed, and makes them the new expected state. The error describes the difference.
  virtual Status Verify(const World& world, Referee& referee) = 0;
};

// A document that many clients overwrite, each time with a new stamp.
class SharedDocument {
 public:
  void Acknowledged(Time time, const Content& content);
  void Unanswered(const Content& content) { unanswered_.push_back(content); }

  // The state must be the newest acknowledged one, or that of a later unanswered commit.
  Status Verify(const std::string& path, const State& state, Referee& referee);

 private:
  State newest_;
  std::vector<Content> unanswered_;
};

}  // namespace hearth::stress
