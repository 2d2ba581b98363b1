#pragma once

#include <vector>

#include "client/snapshot.h"

namespace hearth::client {

// How the results of a query have come from one state to the next: removals, then additions, then
// modifications. Each index is that of the list as the changes before have left it; applied one
// after the other they make `after` of `before`.
//
// A document is modified when its update time is another.
std::vector<DocumentChange> ChangesBetween(const std::vector<DocumentSnapshot>& before,
                                           const std::vector<DocumentSnapshot>& after);

}  // namespace hearth::client
