#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
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
#include "watch/watch_sink.h"

namespace hearth::watch {

// Whether two records of one document are of the same version, or both missing.
bool IsSameState(const model::Record& left, const model::Record& right);

// One target of a watcher. Threads: one at a time.
struct TargetState {
  request::TargetId id = 0;
  TargetNumber number = {};
  std::shared_ptr<const Target> target;  // Shared with the change feed.
  std::optional<std::vector<model::FieldPath>> mask;
  bool once = false;
  std::unique_ptr<ResultWindow> window;  // For queries with a limit or an offset.
  model::Timestamp read_time;            // The moment that the client has been sent.

  // Null for a set of documents.
  const LiveQuery* query() const;
  // Whether the target contains the document in that state, ignoring windows.
  bool Holds(const model::DocumentPath& path, const model::Record& record) const;
  bool IsConcernedBy(const Change& change) const;
  // Whether a change of that document could concern the target.
  bool Reads(const model::DocumentPath& path) const;
};

// The messages for one step from a moment to a later one, one message per document.
class WatchMessages {
 public:
  bool empty() const { return documents_.empty(); }

  // The document is in the target: it was added, or changed there.
  void Enter(const model::DocumentPath& path, const model::Record& record,
             const TargetState& target);
  // The document left the target. `record`: its current state.
  void Leave(const model::DocumentPath& path, const model::Record& record,
             const TargetState& target);

  void SendTo(WatchSink& sink, model::Timestamp through) const;

 private:
  struct Document {
    model::DocumentPath path;
    model::Record record;
    request::TargetIds targets;  // Targets without a mask.
    std::vector<const TargetState*> masked;
    request::TargetIds removed;
  };
  Document& For(const model::DocumentPath& path, const model::Record& record);

  std::map<std::string, Document> documents_;
};

// The changes between two moments, merged by document: intermediate states of a document do not
// matter.
//
// Threads: one at a time. Ownership: borrows the targets.
class WatchDelta {
 public:
  // The changes of a document are added in the order of their commits.
  void Add(TargetState& target, const Change& change);

  // Computes the effect of the changes on the targets. `refill` reads the results of a window at
  // the later moment and returns the visible ones by path, with the records of those not `known`.
  using Refill = std::function<Result<std::map<std::string, model::Record>>(
      TargetState&, const std::set<std::string>& known)>;
  Status Resolve(const Refill& refill, WatchMessages* messages) const;

 private:
  struct Document {
    model::DocumentPath path;
    model::Record after;
    std::map<TargetState*, model::Record> before;
  };

  Status ResolveWindow(TargetState& target, const std::vector<const Document*>& documents,
                       const Refill& refill, WatchMessages* messages) const;

  std::map<std::string, Document> documents_;
};

}  // namespace hearth::watch
