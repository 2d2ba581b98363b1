#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "client/references.h"
#include "client/snapshot.h"
#include "client/transport.h"
#include "model/field_path.h"

namespace hearth::client {

// The documents in the order of the references. The transport is shared with the snapshots.
Result<std::vector<DocumentSnapshot>> ReadDocuments(
    const std::shared_ptr<Transport>& transport, const std::vector<DocumentReference>& documents,
    const std::optional<std::vector<model::FieldPath>>& mask, const ReadMoment& moment);

}  // namespace hearth::client
