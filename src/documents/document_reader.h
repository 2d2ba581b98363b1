#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/status.h"
#include "documents/commit_clock.h"
#include "documents/document_cache.h"
#include "model/timestamp.h"
#include "storage/store.h"

namespace hearth::documents {

// Reads single documents, as they are now or as they were at an earlier moment.
//
// A document at an earlier moment is its newest state, unless it has changed since: then it is the
// state that the first later commit replaced. So reading the past needs no old snapshot.
//
// Threads: safe for concurrent use. Ownership: borrows its arguments.
// Errors: those of the store. Absence is a null record.
class DocumentReader {
 public:
  DocumentReader(const storage::Store& store, CommitClock& clock, DocumentCache& cache)
      : store_(store), clock_(clock), cache_(cache) {}

  // The state in the store, published or not.
  Result<model::Record> Newest(const std::string& document_key) const;

  // The newest published state. A commit becomes visible to all readers at one moment, even if
  // parts of it are in the cache or the store already.
  Result<model::Record> Present(const std::string& document_key) const;
  // nullopt if the answer would have to wait for the disk.
  std::optional<Result<model::Record>> PresentIfInMemory(const std::string& document_key) const;

  Result<model::Record> At(const std::string& document_key, model::Timestamp read_time) const;
  std::optional<Result<model::Record>> AtIfInMemory(const std::string& document_key,
                                                    model::Timestamp read_time) const;

  // The number of reads answered from memory and from disk. A call that returns nullopt because it
  // would have to wait for the disk is not counted.
  uint64_t memory_reads() const { return memory_reads_.value(); }
  uint64_t disk_reads() const { return disk_reads_.value(); }

 private:
  enum class Source : uint8_t { kMemory, kDisk };

  void Count(Source source) const {
    (source == Source::kMemory ? memory_reads_ : disk_reads_).Add();
  }
  // Like Newest, but does not count the read.
  Result<model::Record> Load(const std::string& document_key, Source* source) const;
  std::optional<Result<model::Record>> NewestIfInMemory(const std::string& document_key) const;
  // True if `newest`, read just now, is also the state at `read_time`.
  bool IsStateAt(const model::Record& newest, model::Timestamp read_time) const;
  // True if `newest`, read just now, is also the present state.
  bool IsPresent(const model::Record& newest) const;

  const storage::Store& store_;
  CommitClock& clock_;
  DocumentCache& cache_;
  mutable Counter memory_reads_;
  mutable Counter disk_reads_;
};

}  // namespace hearth::documents
