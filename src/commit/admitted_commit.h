#pragma once

#include <vector>

#include "base/callback.h"
#include "base/connected_client.h"
#include "base/status.h"
#include "documents/database.h"
#include "request/write.h"
#include "transactions/lock_table.h"

namespace hearth::commit {

// One commit with all the locks it needs.
struct AdmittedCommit {
  documents::DatabaseHandle database;
  transactions::LockOwner owner;  // Its locks are released once the outcome is known.
  ClientKey client;
  std::vector<request::Write> writes;
  Callback<void(Result<request::CommitResult>)> done;
};

}  // namespace hearth::commit
