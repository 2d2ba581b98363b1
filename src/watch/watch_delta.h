#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "model/field_path.h"
#include "model/names.h"
#include "model/record.h"
#include "model/timestamp.h"
#include "watch/change.h"
#include "watch/result_window.h"
#include "watch/target.h"
#include "watch/target_index.h"
#include "watch/watch_memory.h"
#include "watch/watch_sink.h"

namespace hearth::watch {

// Whether two records of one document are of the same version, or both missing.
bool IsSameState(const model::Record& left, const model::Record& right);

// The fields to send; nullopt for all.
using Mask = std::optional<std::vector<model::FieldPath>>;

// One target of a watcher. Threads: one at a time.
struct TargetState {
  request::TargetId id = 0;
  TargetNumber number = {};
  std::shared_ptr<const Target> target;  // Shared with the change feed.
  std::shared_ptr<const Mask> mask;      // Shared by the stream's targets with an equal one.
  bool once = false;
  WatchMemory memory;
  std::unique_ptr<ResultWindow> window;  // For queries with a limit or an offset.
  model::Timestamp read_time;            // The moment that the client has been sent.
  // For a set of documents, which keeps the order of the request: their places in it, by path.
  std::vector<uint32_t> documents_by_path;

  // After setting `target`.
  void SortDocuments();
  // Null for a set of documents.
  const LiveQuery* query() const;
  // Whether the target contains the document in that state, ignoring windows.
  bool Holds(const model::DocumentPath& path, const model::Record& record) const;
  bool IsConcernedBy(const Change& change) const;
  // Whether a change of that document could concern the target.
  bool Reads(const model::DocumentPath& path) const;
};

// The messages for one step from a moment to a later one: for each document one message, and one
// for each mask. A message is encoded when it is sent, so these take little memory.
class WatchMessages {
 public:
  bool empty() const { return documents_.empty(); }
  // Whether there is a message about the document.
  bool Contains(const std::string& path) const { return documents_.contains(path); }

  // The document is in the target: it was added, or changed there.
  void Enter(const model::DocumentPath& path, const model::Record& record,
             const TargetState& target);
  // The document left the target, and still exists or not.
  enum class Fate : uint8_t { kExists, kDeleted };
  void Leave(const model::DocumentPath& path, Fate fate, const TargetState& target);

  // Sends the next messages until the sink is full. True once all have been sent.
  bool SendSome(WatchSink& sink, model::Timestamp through);

 private:
  struct Document {
    model::DocumentPath path;
    bool exists = true;
    model::Record record = nullptr;   // Null if it only left targets.
    request::TargetIds targets = {};  // Targets without a mask.
    std::map<const Mask*, request::TargetIds> masked = {};
    request::TargetIds removed = {};
  };
  Document& For(const model::DocumentPath& path);

  std::map<std::string, Document> documents_;
};

// What the steps of a WatchDelta may use.
struct ResolveMeans {
  // Called often: an error ends the work.
  std::function<Status()> pause;
  // Runs the target's query at the later moment and passes the results beyond the offset to `visit`
  // until that returns false. Null if there is no memory for a new window.
  using Visit = std::function<bool(const model::DocumentPath& path, const model::Record& record)>;
  std::function<Result<std::unique_ptr<ResultWindow>>(TargetState& target, const Visit& visit)>
      refill;
  // For the documents that windows find. The limit is for all windows together.
  WatchMemory* memory;
  size_t refill_bytes_max;
};

// The effect of a WatchDelta.
struct ResolvedDelta {
  WatchMessages messages;
  // Targets whose windows found too much to hold: their results have to be sent from scratch.
  std::vector<request::TargetId> to_reset;
  // Targets for whose windows there is no memory.
  std::vector<request::TargetId> to_end;
  size_t refill_bytes = 0;
};

// The changes between two moments, merged by document: intermediate states of a document do not
// matter.
//
// Threads: one at a time. Ownership: borrows the targets.
class WatchDelta {
 public:
  // The changes of a document are added in the order of their commits.
  void Add(TargetState& target, const Change& change);

  // Adds the effect of the changes on the targets to `resolved`.
  Status Resolve(const ResolveMeans& means, ResolvedDelta* resolved) const;

 private:
  struct Document {
    model::DocumentPath path;
    model::Record after;
    std::map<TargetState*, model::Record> before;
  };
  using Documents = std::vector<const Document*>;

  // Whether the window showed each of the documents.
  static std::vector<bool> Shown(const ResultWindow& window, const Documents& documents);
  static Status ResolveWindow(TargetState& target, const Documents& documents,
                              const ResolveMeans& means, ResolvedDelta* resolved);
  class Refill;

  std::map<std::string, Document> documents_;
};

}  // namespace hearth::watch
