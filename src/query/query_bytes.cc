#include "query/query_bytes.h"

#include <string>

namespace hearth::query {
namespace {

size_t BytesOfText(const std::string& text) { return sizeof(text) + text.size(); }

size_t BytesOfPath(const model::FieldPath& path) {
  size_t bytes = sizeof(path);
  for (const std::string& segment : path.segments()) bytes += BytesOfText(segment);
  return bytes;
}

size_t BytesOfFilter(const FieldFilter& filter) {
  return sizeof(filter) + BytesOfPath(filter.path) + filter.value.size();
}

size_t BytesOfFilter(const Filter& filter) {
  if (const auto* field = std::get_if<FieldFilter>(&filter.filter)) return BytesOfFilter(*field);
  size_t bytes = sizeof(filter);
  for (const Filter& each : std::get<CompositeFilter>(filter.filter).filters) {
    bytes += BytesOfFilter(each);
  }
  return bytes;
}

size_t BytesOfOrders(const std::vector<Order>& orders) {
  size_t bytes = 0;
  for (const Order& order : orders) bytes += sizeof(order) + BytesOfPath(order.path);
  return bytes;
}

size_t BytesOfBound(const std::optional<Bound>& bound) {
  size_t bytes = 0;
  if (!bound) return bytes;
  for (const std::string& value : bound->values) bytes += BytesOfText(value);
  return bytes;
}

}  // namespace

size_t BytesOf(const std::vector<model::FieldPath>& paths) {
  size_t bytes = 0;
  for (const model::FieldPath& path : paths) bytes += BytesOfPath(path);
  return bytes;
}

size_t BytesOf(const NormalizedQuery& normalized) {
  const Query& query = normalized.query;
  size_t bytes = sizeof(normalized) + query.parent.document_path.size() +
                 query.collection_id.size() + BytesOfOrders(query.orders) +
                 BytesOfBound(query.start) + BytesOfBound(query.end) +
                 BytesOfOrders(normalized.orders);
  if (query.where) bytes += BytesOfFilter(*query.where);
  if (query.select) bytes += BytesOf(*query.select);
  if (query.nearest) bytes += query.nearest->query_vector.size() * sizeof(double);
  for (const Conjunction& conjunction : normalized.disjuncts) {
    bytes += sizeof(conjunction);
    for (const FieldFilter& filter : conjunction.filters) bytes += BytesOfFilter(filter);
  }
  return bytes;
}

}  // namespace hearth::query
