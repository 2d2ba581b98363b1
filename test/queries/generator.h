// Random documents and queries from few and awkward ingredients: ties, type boundaries, and mostly
// non-empty results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/testing/test_seed.h"
#include "queries/trees.h"
#include "query/query.h"

namespace hearth::queries {

struct RandomQuery {
  query::Query query;
  std::vector<query::Aggregation> aggregations;  // Empty: the query returns documents.
};

// Threads: one at a time.
class Generator {
 public:
  // `more_ids`: the number of ids in addition to the usual few.
  explicit Generator(uint64_t seed, size_t more_ids = 0)
      : dice_(seed), trees_(seed + 1), more_ids_(more_ids) {}

  Dice& dice() { return dice_; }

  std::string Path();
  Document Fields();
  // Mostly about what is in `documents`.
  RandomQuery Query(const Documents& documents);

 private:
  // What the filters of one query may still contain without being refused.
  struct Allowance {
    bool negation = true;
    bool not_in = true;
    bool contains = true;
  };

  template <typename T>
  const T& Pick(const std::vector<T>& choices) {
    return choices[dice_.Below(choices.size())];
  }
  bool Chance(size_t percent) { return dice_.Below(100) < percent; }

  Tree Value(size_t depth);
  Tree Scalar();
  Tree List(size_t depth);
  Tree LongText();
  std::string Reference();

  model::FieldPath FieldToAskFor();
  // The anchor or occasionally another document in scope; null if there is none.
  const Document* SomeDocument();
  void ChooseScope(query::Query* query);
  // The value of some document in scope at that path; otherwise any value. Valid in a filter.
  std::string Operand(const model::FieldPath& path);
  std::string AnyValueAt(const model::FieldPath& path);
  std::string ItemAt(const model::FieldPath& path);
  std::string Items(size_t count, const model::FieldPath& path, bool of_arrays);
  query::Filter Leaf(Allowance* allowance);
  query::Filter NameLeaf(Allowance* allowance);
  query::Filter Composite(size_t depth, Allowance* allowance);
  void AddOrders(query::Query* query);
  query::Bound Cursor(const query::Query& query);
  std::vector<query::Aggregation> Aggregations();

  Dice dice_;
  model::RandomTrees trees_;
  const size_t more_ids_;
  // Of the query that is being generated: its scope, and the document that it is mostly about.
  std::vector<const Documents::value_type*> in_scope_;
  const Documents::value_type* anchor_ = nullptr;  // Null: there is none.
};

}  // namespace hearth::queries
