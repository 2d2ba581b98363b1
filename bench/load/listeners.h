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

// What each listener selects.
enum class Wanted : uint8_t {
  kCollection,  // The whole collection.
  kEquality,    // A different value of the field "url" in the collection.
  kOthers,      // A different collection.
};

struct ListenOptions {
  ClientOptions client = {};
  size_t connections = 1;
  size_t streams = 1;  // Per connection.
  size_t targets = 1;  // Per stream.
  std::string collection = "bench";
  Wanted wanted = Wanted::kCollection;
  int first_value = 0;  // For kEquality. Commits change the document with value 0.
};

// Covers the time until every stream has its first snapshots.
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

// Times of successive commits, in microseconds. A stream has received a commit once it got the
// committed document and then a snapshot that is at least as new.
struct CommitReport {
  size_t streams_concerned = 0;
  size_t repeated = 0;                         // Documents that were sent again unchanged.
  std::vector<double> acknowledged = {};       // Since the commit was sent.
  std::vector<double> first_heard = {};        // Since it was sent.
  std::vector<double> last_heard = {};         // Since it was sent.
  std::vector<double> last_heard_beyond = {};  // Since it was acknowledged; may be less than 0.
};

// Many listeners, and a writer on a separate connection. All check what they receive.
//
// Threads: one. Errors: Internal for an incorrect message, Unavailable for a lost connection,
// DeadlineExceeded if no message arrives for a long time.
class Listeners {
 public:
  explicit Listeners(const ListenOptions& options);
  ~Listeners();

  Result<OpenReport> Open();
  // Changes document 0 repeatedly, and waits each time until all affected streams have received it.
  Result<CommitReport> Commit(size_t commits);
  // Queries the whole collection.
  Result<QueryReport> Query();
  // Processes incoming messages for a while.
  Status Idle(std::chrono::milliseconds duration);

 private:
  using Clock = ClientConnection::Clock;
  class Listener;
  class UnaryCall;
  // The commit in progress.
  struct Round {
    std::string name = {};  // Of the document.
    Clock::time_point first_heard = {};
    Clock::time_point last_heard = {};
    Nanos time{};  // Of the commit, as received.
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
  size_t listening_ = 0;       // Streams that have their first snapshots.
  size_t heard_messages_ = 0;  // Shows WaitUntil whether there is progress.
  int next_round_;
  Nanos newest_commit_{};  // The newest commit that all listeners have received.
  size_t repeated_ = 0;
  Round round_;
  Clock::time_point last_listening_;
  Status failure_;
};

}  // namespace hearth::bench
