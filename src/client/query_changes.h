#pragma once

#include <vector>

#include "client/snapshot.h"

namespace hearth::client {

// The changes between two states of a query's results: removals, then additions, then
// modifications. Each index refers to the list after the preceding changes. Applied in order, they
// turn `before` into `after`.
// || A document is modified if its update time differs.
std::vector<DocumentChange> ChangesBetween(const std::vector<DocumentSnapshot>& before,
                                           const std::vector<DocumentSnapshot>& after);

}  // namespace hearth::client
