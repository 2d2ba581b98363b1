#include "client/filter.h"

#include <utility>

namespace hearth::client {

Filter Filter::Where(std::string_view field_path, Op op, Value value) {
  Filter filter;
  filter.comparison_.push_back({std::string(field_path), op, std::move(value)});
  return filter;
}

Filter Filter::And(std::vector<Filter> filters) {
  Filter filter;
  filter.join_ = Join::kAnd;
  filter.filters_ = std::move(filters);
  return filter;
}

Filter Filter::Or(std::vector<Filter> filters) {
  Filter filter;
  filter.join_ = Join::kOr;
  filter.filters_ = std::move(filters);
  return filter;
}

}  // namespace hearth::client
