#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "query/query.h"

namespace hearth::wire {

// What a client has of a set of partition points when it asks for more.
struct PartitionProgress {
  size_t points = 0;
  std::string last;  // The encoded reference of the last one; empty while there are none.
};

// `request`: what all requests for pages of one set of points have in common. InvalidArgument when
// the token is not one of theirs. An empty token asks for the first page.
Result<PartitionProgress> ReadPartitionToken(std::string_view token, std::string_view request);

struct PartitionPage {
  std::vector<query::Bound> bounds;
  std::string next_page_token;  // Empty after the last page.
};

// The first `size_max` of `points` that are behind `progress`. `points` are in order, each with a
// reference for its only value. They may be others than on the page before, because documents have
// come and gone; a client gets no more than `points_max` in all.
PartitionPage MakePartitionPage(std::vector<query::Bound> points, size_t points_max,
                                size_t size_max, const PartitionProgress& progress,
                                std::string_view request);

}  // namespace hearth::wire
