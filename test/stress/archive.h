#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "stress/workload.h"

namespace hearth::stress {

// Large documents that are written once and never changed. They make the data outgrow caches and
// open files, and make the server flush and compact.
class Archive final : public Workload {
 public:
  // Lets the next steps write about this much.
  void Allow(size_t bytes) { bytes_left_ = static_cast<int64_t>(bytes); }
  bool wants_more() const { return bytes_left_ > 0; }

  void Step(const Session& session) override EXCLUDES_LOCK(mutex_);

  // Chooses the documents for the next Verify: there are too many to read them all.
  void Choose(Random& random) EXCLUDES_LOCK(mutex_);
  std::vector<std::string> Paths() const override;
  Status Verify(const World& world, Referee& referee) override;

 private:
  struct Entry {
    std::string path;
    Seen seen;
  };

  std::atomic<int64_t> bytes_left_ = 0;
  Mutex mutex_;                                   // Leaf lock.
  std::vector<Entry> stored_ GUARDED_BY(mutex_);  // Acknowledged documents.
  std::vector<Entry> chosen_;
};

}  // namespace hearth::stress
