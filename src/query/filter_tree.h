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

// A query's filter with plain leaves: `in` and `array-contains-any` are taken apart, comparisons
// with null and NaN have the meaning that Firestore gives them, and equal children of one node are
// one. Sizes and limits are Firestore's, which counts what it has taken apart.
//
// Threads: immutable after construction. Errors: InvalidArgument for too many disjunctions.
class FilterTree {
 public:
  FilterTree() = default;  // Holds for every document.
  // Requires arrays where operators take arrays, and no composite of nothing. Recurses as deep as
  // the filter does, which is as deep as a decoder of requests allows.
  explicit FilterTree(const Filter& filter);

  size_t FilterCount() const { return FilterCount(root_); }
  // The most `array-contains` that have to hold at the same time.
  size_t ArrayContainsCount() const { return ArrayContainsCount(root_); }
  // The fields of inequalities that can hold, sorted, each once. They include `__name__`.
  std::vector<model::FieldPath> InequalityPaths() const;
  // The disjunctive normal form without what can never hold. Requires at most kFiltersAndOrdersMax
  // filters, which bounds the memory it takes.
  Result<std::vector<Conjunction>> Disjuncts() const;

 private:
  struct Leaf {
    FieldFilter filter;   // The value is empty if it can never hold.
    size_t filter_count;  // For how many filters it stands.
  };
  struct Node {
    enum class Kind : uint8_t { kLeaf, kAnd, kOr };
    Kind kind = Kind::kAnd;
    size_t leaf = 0;  // Of kLeaf: an index into leaves_. Equal leaves have one index.
    std::vector<Node> children = {};  // Sorted, each once.

    friend bool operator==(const Node&, const Node&) = default;
    std::strong_ordering operator<=>(const Node& other) const;
  };
  using Term = std::set<size_t>;  // Leaves that must all hold.
  using Terms = std::set<Term>;   // One of them must hold.

  static void RemoveDuplicates(std::vector<Node>* children);
  static Node Flatten(const Node& node);
  // nullopt when a conjunction multiplies out to far too many terms.
  static std::optional<Terms> ToTerms(const Node& node);
  static std::optional<Terms> Product(const std::vector<Node>& factors);

  Node Build(const Filter& filter);
  Node BuildField(const FieldFilter& filter);
  Node BuildAnyOf(const FieldFilter& filter, Operator item_op);
  Node BuildNotIn(const FieldFilter& filter);
  Node AddLeaf(const model::FieldPath& path, Operator op, std::string value, size_t filter_count);
  Node AddComparison(const model::FieldPath& path, Operator op, std::string value);
  // `op` is no inequality: what can never hold asks for no order.
  Node AddImpossible(const model::FieldPath& path, Operator op);
  size_t FilterCount(const Node& node) const;
  size_t ArrayContainsCount(const Node& node) const;

  std::vector<Leaf> leaves_;
  std::map<std::tuple<model::FieldPath, Operator, std::string>, size_t> leaf_numbers_;
  Node root_;
};

}  // namespace hearth::query
