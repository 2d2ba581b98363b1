#include "queries/generator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "model/value_size.h"
#include "request/testing/writes.h"

namespace hearth::queries {
namespace {

using model::FieldPath;
using model::ValueType;
using query::Aggregation;
using query::CompositeFilter;
using query::FieldFilter;
using query::Filter;
using query::Operator;
using query::SortDirection;

const std::vector<std::string>& Ids() {
  static const std::vector<std::string> kIds = {"a",
                                                "a!",
                                                "b",
                                                "c",
                                                "\xc3\xa9",
                                                "\xf0\x9f\x98\x80",
                                                "__id7__",
                                                "__id10__",
                                                "__id-7__",
                                                "Z",
                                                "aa",
                                                "~",
                                                "\xef\xbf\xae",
                                                "m 1",
                                                "n0",
                                                "n1",
                                                "n2",
                                                "n3",
                                                "n4",
                                                "n5",
                                                "n6",
                                                "n7",
                                                "n8",
                                                "n9"};
  return kIds;
}

const std::vector<std::string>& FieldPaths() {
  static const std::vector<std::string> kPaths = {"a",   "a",   "b",     "b",       "c",
                                                  "n",   "n",   "t",     "m",       "m.x",
                                                  "m.x", "m.y", "`q.r`", "m.`a b`", "m.x.z"};
  return kPaths;
}

std::string EncodePathReference(const std::string& path) {
  return model::EncodeReference(NameDatabase().text() + "/documents/" + path);
}

}  // namespace

std::string Generator::Path() {
  static const std::vector<std::string> kCollections = {
      "c/",     "c/",     "c/",     "c/",     "c/", "c/",      "d/",
      "c/a/s/", "c/a/c/", "c/b/s/", "d/a/s/", "s/", "c/a!/s/", "c/a/s/x/s/"};
  if (more_ids_ > 0 && !Chance(10)) {
    return Pick(kCollections) + "x" + std::to_string(dice_.Below(more_ids_));
  }
  return Pick(kCollections) + Pick(Ids());
}

std::string Generator::Reference() {
  return NameDatabase(Chance(80) ? "(default)" : "other").text() + "/documents/" + Path();
}

Tree Generator::LongText() {
  // Around 1,500 bytes, where index entries are cut off, so that many values are equal in an index.
  Tree tree = TreeOfType(Chance(80) ? ValueType::kString : ValueType::kBytes);
  tree.text =
      std::string(1'480 + 10 * dice_.Below(5), 'k') + Pick<std::string>({"", "a", "b", "ba"});
  return tree;
}

Tree Generator::Scalar() {
  const size_t kind = dice_.Below(100);
  if (kind < 30) return IntegerTree(static_cast<int64_t>(dice_.Below(4)));
  if (kind < 40) return DoubleTree(static_cast<double>(dice_.Below(8)) / 2);
  if (kind < 50) {
    Tree tree = TreeOfType(ValueType::kString);
    tree.text = Pick<std::string>({"", "a", "b", "ab", "abc", std::string("a\0", 2)});
    return tree;
  }
  if (kind < 54) return TreeOfType(ValueType::kNull);
  if (kind < 57) return DoubleTree(std::numeric_limits<double>::quiet_NaN());
  if (kind < 60) {
    Tree tree = TreeOfType(ValueType::kReference);
    tree.text = Reference();
    return tree;
  }
  return trees_.Value(0);
}

Tree Generator::List(size_t depth) {
  Tree tree = TreeOfType(ValueType::kArray);
  for (size_t count = dice_.Below(4); count > 0; --count) {
    Tree item = Value(depth);
    // An array holds neither arrays nor vectors, except within maps.
    const bool fits = item.type != ValueType::kArray && item.type != ValueType::kVector;
    tree.items.push_back(fits ? std::move(item) : Scalar());
  }
  return tree;
}

Tree Generator::Value(size_t depth) {
  const size_t kind = dice_.Below(100);
  if (depth == 0 || kind < 72) return Scalar();
  if (kind < 86) return List(depth - 1);
  return trees_.Value(depth);
}

Document Generator::Fields() {
  Document fields;
  for (const char* name : {"a", "b", "c", "n", "q.r"}) {
    if (Chance(80)) fields[name] = Value(2);
  }
  if (Chance(70))
    fields["n"] = Chance(50) ? IntegerTree(static_cast<int64_t>(dice_.Below(3))) : Scalar();
  if (Chance(70)) fields["t"] = List(1);
  if (Chance(80)) {
    Tree map = TreeOfType(ValueType::kMap);
    for (const char* name : {"x", "y", "a b"}) {
      if (Chance(70)) map.fields[name] = Value(1);
    }
    if (Chance(15)) {
      map.fields["x"] = TreeOfType(ValueType::kMap);
      map.fields["x"].fields["z"] = Scalar();
    }
    fields["m"] = std::move(map);
  }
  // Few enough that no index entry becomes too long.
  if (Chance(12)) fields[Pick<std::string>({"a", "b"})] = LongText();
  return fields;
}

FieldPath Generator::FieldToAskFor() {
  FieldPath path = FieldAt(Pick(FieldPaths()));
  for (int attempt = 0; attempt < 3 && anchor_ && !Find(*anchor_->second, path); ++attempt) {
    path = FieldAt(Pick(FieldPaths()));
  }
  return path;
}

const Document* Generator::SomeDocument() {
  if (in_scope_.empty() || Chance(8)) return nullptr;
  return (Chance(75) ? anchor_ : Pick(in_scope_))->second.get();
}

std::string Generator::AnyValueAt(const FieldPath& path) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Document* document = SomeDocument();
    if (document == nullptr) break;
    if (const Tree* value = Find(*document, path)) return EncodeTree(*value);
  }
  return EncodeTree(Value(2));
}

std::string Generator::Operand(const FieldPath& path) {
  constexpr size_t kOperandBytesMax = 1'500;
  std::string value = AnyValueAt(path);
  const model::ValueView view(value);
  if (model::ValueSizeBytes(view) <= kOperandBytesMax) return value;
  if (view.type() != ValueType::kString) return model::EncodeInteger(1);
  return model::EncodeString(view.text().substr(0, 1'480 + dice_.Below(20)));
}

std::string Generator::ItemAt(const FieldPath& path) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    const Document* document = SomeDocument();
    if (document == nullptr) break;
    const Tree* value = Find(*document, path);
    if (value == nullptr || value->items.empty() || value->type != ValueType::kArray) continue;
    return EncodeTree(Pick(value->items));
  }
  return EncodeTree(Scalar());
}

std::string Generator::Items(size_t count, const FieldPath& path, bool of_arrays) {
  std::vector<std::string> items;
  while (items.size() < count) {
    items.push_back(of_arrays ? ItemAt(path) : Operand(path));
  }
  return model::EncodeArray(items);
}

Filter Generator::NameLeaf(Allowance* allowance) {
  static const std::vector<Operator> kOperators = {
      Operator::kLess,    Operator::kLessOrEqual, Operator::kGreater, Operator::kGreaterOrEqual,
      Operator::kGreater, Operator::kEqual,       Operator::kIn,      Operator::kNotEqual};
  Operator op = Pick(kOperators);
  if (op == Operator::kNotEqual && !std::exchange(allowance->negation, false)) {
    op = Operator::kGreaterOrEqual;
  }
  const auto reference = [this] {
    const bool existing = !in_scope_.empty() && !Chance(25);
    return EncodePathReference(existing ? Pick(in_scope_)->first : Path());
  };
  if (op != Operator::kIn) return {FieldFilter{FieldAt("__name__"), op, reference()}};
  std::vector<std::string> names;
  for (size_t count = 1 + dice_.Below(4); count > 0; --count) names.push_back(reference());
  return {FieldFilter{FieldAt("__name__"), op, model::EncodeArray(names)}};
}

Filter Generator::Leaf(Allowance* allowance) {
  if (Chance(7)) return NameLeaf(allowance);
  const FieldPath path = FieldToAskFor();
  const size_t kind = dice_.Below(100);
  if (kind < 30) return {FieldFilter{path, Operator::kEqual, Operand(path)}};
  if (kind < 60) {
    static const std::vector<Operator> kRanges = {Operator::kLess, Operator::kLessOrEqual,
                                                  Operator::kGreater, Operator::kGreaterOrEqual};
    return {FieldFilter{path, Pick(kRanges), Operand(path)}};
  }
  if (kind < 68) return {FieldFilter{path, Operator::kIn, Items(1 + dice_.Below(5), path, false)}};
  if (kind < 74) return {FieldFilter{path, Chance(50) ? Operator::kIsNull : Operator::kIsNan, ""}};
  if (kind < 86 && std::exchange(allowance->contains, false)) {
    const FieldPath list = Chance(80) ? FieldAt("t") : path;
    if (Chance(60)) return {FieldFilter{list, Operator::kArrayContains, ItemAt(list)}};
    return {FieldFilter{list, Operator::kArrayContainsAny, Items(1 + dice_.Below(4), list, true)}};
  }
  if (kind < 97 && std::exchange(allowance->negation, false)) {
    if (allowance->not_in && Chance(40)) {
      return {FieldFilter{path, Operator::kNotIn, Items(1 + dice_.Below(4), path, false)}};
    }
    if (Chance(50)) return {FieldFilter{path, Operator::kNotEqual, Operand(path)}};
    return {FieldFilter{path, Chance(50) ? Operator::kIsNotNull : Operator::kIsNotNan, ""}};
  }
  return {FieldFilter{path, Operator::kGreaterOrEqual, Operand(path)}};
}

Filter Generator::Composite(size_t depth, Allowance* allowance) {
  CompositeFilter composite{
      Chance(55) ? CompositeFilter::Operator::kAnd : CompositeFilter::Operator::kOr, {}};
  if (composite.op == CompositeFilter::Operator::kOr) allowance->not_in = false;
  for (size_t count = 1 + dice_.Below(3); count > 0; --count) {
    composite.filters.push_back(depth > 0 && Chance(35) ? Composite(depth - 1, allowance)
                                                        : Leaf(allowance));
  }
  return {std::move(composite)};
}

void Generator::ChooseScope(query::Query* query) {
  const size_t kind = dice_.Below(100);
  if (kind < 60) {
    query->collection_id = "c";
  } else if (kind < 82) {
    query->collection_id = Chance(60) ? "s" : "c";
    query->all_descendants = true;
  } else if (kind < 88) {
    query->collection_id = Chance(60) ? "s" : "c";
    query->parent = Parent(Pick<std::string>({"c/a", "c/a", "c/b", "c/a!", "d/a"}));
  } else if (kind < 92) {
    query->collection_id = "d";
  } else if (kind < 95) {
    query->collection_id = Chance(50) ? "s" : "";
    query->all_descendants = true;
    query->parent = Parent(Chance(70) ? "c/a" : "d/a");
  } else {
    query->all_descendants = Chance(60);
    if (Chance(40)) query->parent = Parent("c/a");
  }
}

void Generator::AddOrders(query::Query* query) {
  for (size_t count = Chance(45) ? 0 : 1 + dice_.Below(3); count > 0; --count) {
    FieldPath path = FieldToAskFor();
    const bool is_there = std::ranges::any_of(
        query->orders, [&path](const query::Order& order) { return order.path == path; });
    if (is_there) continue;
    query->orders.push_back(
        {std::move(path), Chance(60) ? SortDirection::kAscending : SortDirection::kDescending});
  }
  if (Chance(query->orders.empty() ? 12 : 30)) {
    query->orders.push_back(
        {FieldAt("__name__"), Chance(50) ? SortDirection::kAscending : SortDirection::kDescending});
  }
}

query::Bound Generator::Cursor(const query::Query& query) {
  query::Bound bound{{}, Chance(50)};
  const size_t length = Chance(4) ? 0 : 1 + dice_.Below(query.orders.size());
  // Usually the position of one document, which others partly share.
  const Documents::value_type* at = in_scope_.empty() ? nullptr : Pick(in_scope_);
  for (size_t i = 0; i < length; ++i) {
    const FieldPath& path = query.orders[i].path;
    if (path.IsName()) {
      bound.values.push_back(EncodePathReference(at && !Chance(20) ? at->first : Path()));
      continue;
    }
    const Tree* value = at && !Chance(15) ? Find(*at->second, path) : nullptr;
    bound.values.push_back(value ? EncodeTree(*value) : AnyValueAt(path));
  }
  return bound;
}

std::vector<Aggregation> Generator::Aggregations() {
  std::vector<Aggregation> aggregations;
  for (size_t count = 1 + dice_.Below(3); count > 0; --count) {
    Aggregation aggregation{Aggregation::Kind::kCount, "r" + std::to_string(count), {}, {}};
    if (Chance(40)) {
      if (Chance(40)) aggregation.up_to = 1 + dice_.Below(5);
    } else {
      aggregation.kind = Chance(50) ? Aggregation::Kind::kSum : Aggregation::Kind::kAverage;
      aggregation.path = FieldAt(Pick<std::string>({"n", "n", "n", "a", "m.x"}));
    }
    aggregations.push_back(std::move(aggregation));
  }
  return aggregations;
}

RandomQuery Generator::Query(const Documents& documents) {
  RandomQuery result{{.parent = Parent(), .collection_id = ""}, {}};
  query::Query& query = result.query;
  ChooseScope(&query);
  in_scope_.clear();
  for (const auto& entry : documents) {
    const size_t id = entry.first.rfind('/');
    const size_t parent = entry.first.rfind('/', id - 1);
    const size_t begin = parent == std::string::npos ? 0 : parent + 1;
    const bool is_here =
        query.collection_id.empty() || entry.first.substr(begin, id - begin) == query.collection_id;
    const bool is_deep = parent != std::string::npos;
    const bool wants_deep = query.all_descendants || !query.parent.document_path.empty();
    if (is_here && (wants_deep || !is_deep)) in_scope_.push_back(&entry);
  }
  anchor_ = in_scope_.empty() ? nullptr : Pick(in_scope_);
  // There Firestore only allows filters and orders by name.
  const bool names_only =
      query.collection_id.empty() || (query.all_descendants && !query.parent.document_path.empty());
  Allowance allowance;
  if (names_only) {
    if (Chance(60)) query.where = NameLeaf(&allowance);
    if (Chance(20)) query.orders.push_back({FieldAt("__name__"), SortDirection::kAscending});
  } else {
    if (Chance(85)) query.where = Chance(50) ? Leaf(&allowance) : Composite(2, &allowance);
    AddOrders(&query);
  }
  if (!query.orders.empty() && Chance(25)) query.start = Cursor(query);
  if (!query.orders.empty() && Chance(20)) query.end = Cursor(query);
  if (Chance(15)) query.offset = dice_.Below(6);
  if (Chance(35)) query.limit = Chance(5) ? 0 : 1 + dice_.Below(10);
  if (Chance(18)) result.aggregations = Aggregations();
  return result;
}

}  // namespace hearth::queries
