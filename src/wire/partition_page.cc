#include "wire/partition_page.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/status_macros.h"
#include "model/names.h"
#include "model/value.h"
#include "model/value_order.h"
#include "request/page_token.h"

namespace hearth::wire {
namespace {

using model::ValueView;
using query::Bound;

// The token's parts: the number of points so far, and the document name of the last one.
std::string EncodeToken(const PartitionProgress& progress, std::string_view request) {
  return request::EncodePageToken(
      request, {std::to_string(progress.points), std::string(ValueView(progress.last).text())});
}

}  // namespace

Result<PartitionProgress> ReadPartitionToken(std::string_view token, std::string_view request) {
  PartitionProgress progress;
  if (token.empty()) return progress;
  ASSIGN_OR_RETURN(const std::vector<std::string> parts, request::DecodePageToken(token, request));
  const Status invalid = InvalidArgument("invalid page token");
  if (parts.size() != 2 || !model::ValidateReference(parts[1]).ok()) return invalid;
  const char* const end = parts[0].data() + parts[0].size();
  const auto [parsed_to, error] = std::from_chars(parts[0].data(), end, progress.points);
  if (error != std::errc() || parsed_to != end) return invalid;
  progress.last = model::EncodeReference(parts[1]);
  return progress;
}

PartitionPage MakePartitionPage(std::vector<Bound> points, size_t points_max, size_t size_max,
                                const PartitionProgress& progress, std::string_view request) {
  const auto is_behind = [&](const Bound& bound) {
    return progress.last.empty() ||
           model::CompareValues(ValueView(bound.values.at(0)), ValueView(progress.last)) > 0;
  };
  const auto first = std::ranges::find_if(points, is_behind);
  const size_t behind = static_cast<size_t>(points.end() - first);
  const size_t wanted = points_max - std::min(points_max, progress.points);
  const size_t size = std::min({behind, wanted, size_max});
  PartitionPage page;
  page.bounds.assign(std::move_iterator(first),
                     std::move_iterator(first + static_cast<ptrdiff_t>(size)));
  if (size > 0 && size < std::min(behind, wanted)) {
    page.next_page_token =
        EncodeToken({progress.points + size, page.bounds.back().values.at(0)}, request);
  }
  return page;
}

}  // namespace hearth::wire
