#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/write.h"
#include "model/document.h"

namespace hearth::engine {

// One document on its way through the writes of one commit: what it was before, what it is now.
// Pure: no I/O.
//
// Threads: one at a time. Errors: those of preconditions and limits; after an error the edit must
// be dropped, and with it the whole commit.
class DocumentEdit {
 public:
  DocumentEdit(const model::DatabaseName& database, const model::DocumentPath& path,
               std::optional<model::Document> before);

  // Applies one write. The encoded results of its transforms are added to `transform_results`.
  Status Apply(const Write& write, model::Timestamp commit_time,
               std::vector<std::string>* transform_results);

  // The document after the commit; nullopt where there is none. Its update time is
  // `commit_time` only if the commit changed it.
  std::optional<model::Document> After(model::Timestamp commit_time) const;

  // True when the commit changes what is stored.
  bool IsChange() const;
  const std::optional<model::Document>& before() const { return before_; }

 private:
  Status CheckPrecondition(const Precondition& precondition) const;
  std::string Name() const;

  const model::DatabaseName& database_;  // Both are borrowed from the commit.
  const model::DocumentPath& path_;
  std::optional<model::Document> before_;
  std::optional<model::Fields> now_;
  bool was_deleted_ = false;  // At some point in this commit: what comes after is a new document.
};

}  // namespace hearth::engine
