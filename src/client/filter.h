#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "client/value.h"
#include "query/query.h"

namespace hearth::client {

enum class Op : uint8_t {
  kLess,
  kLessOrEqual,
  kEqual,
  kNotEqual,
  kGreaterOrEqual,
  kGreater,
  kArrayContains,
  kArrayContainsAny,  // With an array.
  kIn,                // With an array.
  kNotIn,             // With an array.
};

// A condition: one comparison, or several joined. Null and NaN are compared with kEqual and
// kNotEqual, as in the official SDKs. `__name__` is compared with references, or with ids relative
// to the queried collection.
//
// Threads: immutable. Errors: kept, and returned when the query runs.
class Filter {
 public:
  static Filter Where(std::string_view field_path, Op op, Value value);
  static Filter And(std::vector<Filter> filters);
  static Filter Or(std::vector<Filter> filters);

 private:
  friend class FilterReader;
  struct Comparison {
    std::string field_path;
    Op op;
    Value value;
  };
  enum class Join : uint8_t { kNone, kAnd, kOr };
  Filter() = default;

  Join join_ = Join::kNone;
  std::vector<Comparison> comparison_;  // One, unless the filter joins others.
  std::vector<Filter> filters_;
};

}  // namespace hearth::client
