#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "load/client_connection.h"
#include "load/listen_answers.h"

namespace hearth::bench {

// What the listeners want.
enum class Wanted : uint8_t {
  kCollection,  // Each the whole collection.
  kEquality,    // Each another value of the field "url" in the collection.
  kOthers,      // Each a collection of its own.
};

struct ListenOptions {
  ClientOptions client = {};
  size_t connections = 1;
  size_t streams = 1;  // On each connection.
  size_t targets = 1;  // On each stream.
  std::string collection = "bench";
  Wanted wanted = Wanted::kCollection;
  int first_value = 0;  // Of kEquality. Commits are of the document that has value 0.
};

// Until every stream had its first snapshots.
struct OpenReport {
  size_t streams = 0;
  size_t documents = 0;
  size_t bytes = 0;  // Of the messages.
  double seconds = 0;
};

struct QueryReport {
  size_t documents = 0;
  size_t bytes = 0;
  double seconds = 0;
};

// Times of commits, one after the other, in microseconds. A stream has heard of a commit when it
// got the document as committed and then a snapshot that is no older.
struct CommitReport {
  size_t streams_concerned = 0;
  size_t repeated = 0;                         // Documents that were sent again as they had been.
  std::vector<double> acknowledged = {};       // Since the commit was sent.
  std::vector<double> first_heard = {};        // Since it was sent.
  std::vector<double> last_heard = {};         // Since it was sent.
  std::vector<double> last_heard_beyond = {};  // Since it was acknowledged; may be less than 0.
};

// Many listeners, and a writer on a connection of its own, that check all that they hear.
//
// Threads: one. Errors: Internal when something was heard that is not right, Unavailable for a lost
// connection, DeadlineExceeded when nothing is heard for long.
class Listeners {
 public:
  explicit Listeners(const ListenOptions& options);
  ~Listeners();

  Result<OpenReport> Open();
  // Changes document 0 again and again, and waits each time until all whom it concerns have heard.
  Result<CommitReport> Commit(size_t commits);
  // The whole collection.
  Result<QueryReport> Query();
  // Takes what comes for a while.
  Status Idle(std::chrono::milliseconds duration);

 private:
  using Clock = ClientConnection::Clock;
  class Listener;
  class UnaryCall;
  // The commit under way.
  struct Round {
    std::string name = {};  // Of the document.
    Clock::time_point first_heard = {};
    Clock::time_point last_heard = {};
    Nanos time{};  // Of the commit, as heard.
    size_t heard = 0;
  };

  Status OpenConnection();
  std::string AddTarget(size_t number) const;
  size_t StreamsConcerned() const;
  Result<Nanos> CommitOnce(int round, CommitReport* report);
  // Serves the connections until `is_done`.
  template <typename Condition>
  Status WaitUntil(const Condition& is_done);
  void OnHeard(Nanos commit_time, Clock::time_point now);
  void Fail(const std::string& why);

  const ListenOptions options_;
  ClientPoll poll_;
  ClientConnection writer_;
  std::vector<std::unique_ptr<ClientConnection>> connections_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  size_t opened_targets_ = 0;
  size_t listening_ = 0;       // Streams that had their first snapshots.
  size_t heard_messages_ = 0;  // For those who wait for progress.
  int next_round_;
  Nanos newest_commit_{};  // Of those that all listeners know.
  size_t repeated_ = 0;
  Round round_;
  Clock::time_point last_listening_;
  Status failure_;
};

}  // namespace hearth::bench
