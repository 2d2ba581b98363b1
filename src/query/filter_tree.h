#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/status.h"
#include "model/field_path.h"
#include "query/normalize.h"
#include "query/query.h"

namespace hearth::query {

// A query's filter with simple leaves: `in` and `array-contains-any` are expanded, comparisons with
// null and NaN have the meaning that Firestore gives them, and equal children of a node are merged.
// Sizes and limits are Firestore's, which apply to the expanded filter.
//
// Threads: immutable after construction. Errors: InvalidArgument for too many disjunctions.
class FilterTree {
 public:
  FilterTree() = default;  // Holds for every document.
  // Requires array operands for the array operators, and no empty composite filters. The recursion
  // is as deep as the filter, which the request decoder limits.
  explicit FilterTree(const Filter& filter);

  size_t FilterCount() const { return FilterCount(root_); }
  // The largest number of `array-contains` filters that must hold at the same time.
  size_t ArrayContainsCount() const { return ArrayContainsCount(root_); }
  // The fields of inequalities that can hold, sorted, without duplicates. They include `__name__`.
  std::vector<model::FieldPath> InequalityPaths() const;
  // The disjunctive normal form without terms that can never hold. Requires at most
  // kFiltersAndOrdersMax filters, which bounds its memory.
  Result<std::vector<Conjunction>> Disjuncts() const;

 private:
  struct Leaf {
    FieldFilter filter;   // The value is empty if it can never hold.
    size_t filter_count;  // The number of filters that it represents.
  };
  struct Node {
    enum class Kind : uint8_t { kLeaf, kAnd, kOr };
    Kind kind = Kind::kAnd;
    size_t leaf = 0;  // For kLeaf: an index into leaves_. Equal leaves share an index.
    std::vector<Node> children = {};  // Sorted, without duplicates.

    friend bool operator==(const Node&, const Node&) = default;
    std::strong_ordering operator<=>(const Node& other) const;
  };
  using Term = std::set<size_t>;  // Leaves that must all hold.
  using Terms = std::set<Term>;   // One of them must hold.

  static void RemoveDuplicates(std::vector<Node>* children);
  static Node Flatten(const Node& node);
  // nullopt if a conjunction expands to far too many terms.
  static std::optional<Terms> ToTerms(const Node& node);
  static std::optional<Terms> Product(const std::vector<Node>& factors);

  Node Build(const Filter& filter);
  Node BuildField(const FieldFilter& filter);
  Node BuildAnyOf(const FieldFilter& filter, Operator item_op);
  Node BuildNotIn(const FieldFilter& filter);
  Node AddLeaf(const model::FieldPath& path, Operator op, std::string value, size_t filter_count);
  Node AddComparison(const model::FieldPath& path, Operator op, std::string value);
  // `op` is not an inequality: a filter that can never hold implies no order.
  Node AddImpossible(const model::FieldPath& path, Operator op);
  size_t FilterCount(const Node& node) const;
  size_t ArrayContainsCount(const Node& node) const;

  std::vector<Leaf> leaves_;
  std::map<std::tuple<model::FieldPath, Operator, std::string>, size_t> leaf_numbers_;
  Node root_;
};

}  // namespace hearth::query
