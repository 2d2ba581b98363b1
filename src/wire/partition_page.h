#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "query/query.h"

namespace hearth::wire {

// The part of a set of partition points that a client already has.
struct PartitionProgress {
  size_t points = 0;
  std::string last;  // The encoded reference of the last one; empty if there are none.
};

// `request`: identifies all requests for pages of one set of points. InvalidArgument if the token
// does not belong to them. An empty token requests the first page.
Result<PartitionProgress> ReadPartitionToken(std::string_view token, std::string_view request);

struct PartitionPage {
  std::vector<query::Bound> bounds;
  std::string next_page_token;  // Empty after the last page.
};

// The first `size_max` of `points` after `progress`. `points` are in order, each with a reference
// as its only value. They may differ from those of the previous page, because documents were added
// or deleted; a client gets no more than `points_max` in all.
PartitionPage MakePartitionPage(std::vector<query::Bound> points, size_t points_max,
                                size_t size_max, const PartitionProgress& progress,
                                std::string_view request);

}  // namespace hearth::wire
