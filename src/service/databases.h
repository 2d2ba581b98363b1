#pragma once

#include "access/access_policy.h"
#include "base/status.h"
#include "engine/engine.h"
#include "rpc/call.h"

namespace hearth::service {

// The databases as calls see them. The methods open databases here and nowhere else, so that none
// of them forgets to check whether its client may use the database.
//
// Threads: safe for concurrent use. Ownership: borrows the engine and the policy.
class Databases {
 public:
  Databases(engine::Engine& engine, const access::AccessPolicy& policy)
      : engine_(engine), policy_(policy) {}

  // Never null. PermissionDenied if the client of `call` may not use the database.
  Result<documents::DatabaseHandle> Open(const rpc::Call& call,
                                         const model::DatabaseName& name) const {
    if (Status status = policy_.CheckDatabase(call.head(), name); !status.ok()) return status;
    return engine_.OpenDatabase(name);
  }

 private:
  engine::Engine& engine_;
  const access::AccessPolicy& policy_;
};

}  // namespace hearth::service
