#include "query/filter_tree.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "model/value.h"

namespace hearth::query {
namespace {

using model::ArrayView;
using model::EncodeDouble;
using model::EncodeNull;
using model::FieldPath;
using model::ValueView;

// Conjunctions are not expanded beyond this number of terms. It only affects the error message.
constexpr size_t kProductMax = 2 * kDisjunctionsMax;

// Firestore replaces a filter that cannot hold with two filters that contradict each other.
constexpr size_t kImpossibleFilterCount = 2;

std::string EncodeNan() { return EncodeDouble(std::numeric_limits<double>::quiet_NaN()); }

Status TooManyDisjunctions(size_t count) {
  const std::string max = std::to_string(kDisjunctionsMax);
  return InvalidArgument("Too many disjunctions after normalization. Result had " +
                         std::to_string(count) +
                         " disjunctions which is more than the maximum of " + max);
}

}  // namespace

std::strong_ordering FilterTree::Node::operator<=>(const Node& other) const {
  if (const auto order = kind <=> other.kind; order != 0) return order;
  if (const auto order = leaf <=> other.leaf; order != 0) return order;
  return children <=> other.children;
}

FilterTree::FilterTree(const Filter& filter) : root_(Build(filter)) {}

void FilterTree::RemoveDuplicates(std::vector<Node>* children) {
  std::ranges::sort(*children);
  children->erase(std::unique(children->begin(), children->end()), children->end());
}

FilterTree::Node FilterTree::Build(const Filter& filter) {
  if (const auto* field = std::get_if<FieldFilter>(&filter.filter)) return BuildField(*field);
  const auto& composite = std::get<CompositeFilter>(filter.filter);
  const bool is_and = composite.op == CompositeFilter::Operator::kAnd;
  Node node{.kind = is_and ? Node::Kind::kAnd : Node::Kind::kOr};
  for (const Filter& child : composite.filters) node.children.push_back(Build(child));
  RemoveDuplicates(&node.children);
  return node;
}

FilterTree::Node FilterTree::BuildField(const FieldFilter& filter) {
  const FieldPath& path = filter.path;
  switch (filter.op) {
    case Operator::kIsNull:
      return AddLeaf(path, Operator::kEqual, EncodeNull(), 1);
    case Operator::kIsNan:
      return AddLeaf(path, Operator::kEqual, EncodeNan(), 1);
    case Operator::kIsNotNull:
      return AddLeaf(path, Operator::kNotEqual, EncodeNull(), 1);
    case Operator::kIsNotNan:
      return AddLeaf(path, Operator::kNotEqual, EncodeNan(), 1);
    case Operator::kIn:
      return BuildAnyOf(filter, Operator::kEqual);
    case Operator::kArrayContainsAny:
      return BuildAnyOf(filter, Operator::kArrayContains);
    case Operator::kNotIn:
      return BuildNotIn(filter);
    case Operator::kNotEqual:
      // Nothing is equal to NaN, so every existing value differs from it.
      if (ValueView(filter.value).IsNan()) return AddLeaf(path, filter.op, EncodeNull(), 1);
      return AddComparison(path, filter.op, filter.value);
    default:
      return AddComparison(path, filter.op, filter.value);
  }
}

FilterTree::Node FilterTree::BuildAnyOf(const FieldFilter& filter, Operator item_op) {
  Node node{.kind = Node::Kind::kOr};
  for (ArrayView rest = ValueView(filter.value).array(); const auto item = rest.Next();) {
    node.children.push_back(AddComparison(filter.path, item_op, std::string(item->encoded())));
  }
  RemoveDuplicates(&node.children);
  return node;
}

FilterTree::Node FilterTree::BuildNotIn(const FieldFilter& filter) {
  std::set<std::string_view> items;
  bool has_null = false;
  bool has_nan = false;
  for (ArrayView rest = ValueView(filter.value).array(); const auto item = rest.Next();) {
    has_null = has_null || item->IsNull();
    has_nan = has_nan || item->IsNan();
    if (!item->IsNull() && !item->IsNan()) items.insert(item->encoded());
  }
  // Null makes the filter fail. The rest is still an inequality and implies an order.
  Node node{.kind = Node::Kind::kAnd};
  if (has_null) node.children.push_back(AddImpossible(filter.path, Operator::kEqual));
  const size_t filter_count = items.size() + (has_nan ? 1 : 0);
  if (!items.empty()) {
    const std::vector<std::string> distinct(items.begin(), items.end());
    node.children.push_back(
        AddLeaf(filter.path, filter.op, model::EncodeArray(distinct), filter_count));
  } else if (has_nan) {
    // Nothing is equal to NaN, so no existing value is in the list.
    node.children.push_back(AddLeaf(filter.path, Operator::kNotEqual, EncodeNull(), filter_count));
  }
  RemoveDuplicates(&node.children);
  return node;
}

FilterTree::Node FilterTree::AddLeaf(const FieldPath& path, Operator op, std::string value,
                                     size_t filter_count) {
  const auto [at, is_new] = leaf_numbers_.try_emplace({path, op, value}, leaves_.size());
  if (is_new) leaves_.push_back({{path, op, std::move(value)}, filter_count});
  return Node{.kind = Node::Kind::kLeaf, .leaf = at->second};
}

FilterTree::Node FilterTree::AddComparison(const FieldPath& path, Operator op, std::string value) {
  const ValueView view(value);
  if (!view.IsNull() && !view.IsNan()) return AddLeaf(path, op, std::move(value), 1);
  // One shared leaf for all comparisons of the field that cannot hold. Array-contains has its own,
  // because it is counted separately.
  const Operator shared = op == Operator::kArrayContains ? op : Operator::kEqual;
  return AddImpossible(path, shared);
}

FilterTree::Node FilterTree::AddImpossible(const FieldPath& path, Operator op) {
  return AddLeaf(path, op, std::string(), kImpossibleFilterCount);
}

size_t FilterTree::FilterCount(const Node& node) const {
  if (node.kind == Node::Kind::kLeaf) return leaves_[node.leaf].filter_count;
  size_t count = 0;
  for (const Node& child : node.children) count += FilterCount(child);
  return count;
}

size_t FilterTree::ArrayContainsCount(const Node& node) const {
  if (node.kind == Node::Kind::kLeaf) {
    return leaves_[node.leaf].filter.op == Operator::kArrayContains ? 1 : 0;
  }
  size_t count = 0;
  for (const Node& child : node.children) {
    const size_t more = ArrayContainsCount(child);
    count = node.kind == Node::Kind::kAnd ? count + more : std::max(count, more);
  }
  return count;
}

std::vector<FieldPath> FilterTree::InequalityPaths() const {
  std::set<FieldPath> paths;
  for (const Leaf& leaf : leaves_) {
    if (IsInequality(leaf.filter.op)) paths.insert(leaf.filter.path);
  }
  return {paths.begin(), paths.end()};
}

FilterTree::Node FilterTree::Flatten(const Node& node) {
  if (node.kind == Node::Kind::kLeaf) return node;
  Node flat{.kind = node.kind};
  for (const Node& child : node.children) {
    Node flat_child = Flatten(child);
    if (flat_child.kind == node.kind) {
      std::ranges::move(flat_child.children, std::back_inserter(flat.children));
    } else {
      flat.children.push_back(std::move(flat_child));
    }
  }
  RemoveDuplicates(&flat.children);
  if (flat.children.size() != 1) return flat;
  Node only_child = std::move(flat.children.front());
  return only_child;
}

std::optional<FilterTree::Terms> FilterTree::ToTerms(const Node& node) {
  if (node.kind == Node::Kind::kLeaf) return Terms{Term{node.leaf}};
  if (node.kind == Node::Kind::kAnd) return Product(node.children);
  Terms terms;
  for (const Node& child : node.children) {
    std::optional<Terms> more = ToTerms(child);
    if (!more) return std::nullopt;
    terms.merge(*more);
  }
  return terms;
}

std::optional<FilterTree::Terms> FilterTree::Product(const std::vector<Node>& factors) {
  Terms product = {Term{}};
  for (const Node& factor : factors) {
    const std::optional<Terms> terms = ToTerms(factor);
    if (!terms || product.size() * terms->size() > kProductMax) return std::nullopt;
    Terms next;
    for (const Term& left : product) {
      for (const Term& right : *terms) {
        Term both = left;
        both.insert(right.begin(), right.end());
        next.insert(std::move(both));
      }
    }
    product = std::move(next);
  }
  return product;
}

Result<std::vector<Conjunction>> FilterTree::Disjuncts() const {
  const std::optional<Terms> terms = ToTerms(Flatten(root_));
  if (!terms) {
    return InvalidArgument("Too many disjunctions after normalization, the maximum is " +
                           std::to_string(kDisjunctionsMax));
  }
  if (terms->size() > kDisjunctionsMax) return TooManyDisjunctions(terms->size());
  std::vector<Conjunction> disjuncts;
  for (const Term& term : *terms) {
    // An empty term holds for every document and makes all other terms redundant.
    if (term.empty()) return std::vector<Conjunction>(1);
    const bool is_impossible = std::ranges::any_of(
        term, [this](size_t leaf) { return leaves_[leaf].filter.value.empty(); });
    if (is_impossible) continue;
    Conjunction& conjunction = disjuncts.emplace_back();
    for (const size_t leaf : term) conjunction.filters.push_back(leaves_[leaf].filter);
  }
  return disjuncts;
}

}  // namespace hearth::query
