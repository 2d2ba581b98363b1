#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "stress/content.h"
#include "stress/referee.h"

namespace hearth::stress {

// What one client needs to do a step.
struct Session {
  FirestoreClient& client;
  Referee& referee;
  Random& random;
};

// What became of a commit.
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

// Reads the present and checks its time; nullopt when there is nothing to look at, because the
// connection ended or the read failed, which fails the run.
std::optional<World> Read(const Session& session, const std::vector<std::string>& paths);

// Something that clients do to documents of its own, and what it knows of them.
//
// Threads: Step is called by many clients at a time, the rest while there are none.
class Workload {
 public:
  virtual ~Workload() = default;

  // One operation of one client.
  virtual void Step(const Session& session) = 0;

  // Its documents, and the collections that hold nothing else.
  virtual std::vector<std::string> Paths() const = 0;

  // Compares the documents with what was acknowledged and what was under way when the server was
  // killed, and takes them as the new truth. The error says what is wrong.
  virtual Status Verify(const World& world, Referee& referee) = 0;
};

// A document that many clients overwrite, each time with a new stamp.
class SharedDocument {
 public:
  void Acknowledged(Time time, const Content& content);
  void Unanswered(const Content& content) { unanswered_.push_back(content); }

  // The state must be the newest that was acknowledged, or a later one that was not answered.
  Status Verify(const std::string& path, const State& state, Referee& referee);

 private:
  State newest_;
  std::vector<Content> unanswered_;
};

}  // namespace hearth::stress
