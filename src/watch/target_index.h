#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/document_key.h"
#include "model/field_path.h"
#include "model/value.h"
#include "watch/change.h"
#include "watch/target.h"

namespace hearth::watch {

// Names a registered target.
enum class TargetNumber : uint64_t {};

// Finds the targets that a change may concern without visiting all the others: by document, by
// collection, and within a collection by the values that queries require of fields.
//
// Threads: one at a time. Ownership: copies what it needs of the targets.
class TargetIndex {
 public:
  void Add(TargetNumber number, model::DatabaseNumber database, const Target& target);
  // Takes the same target as Add did.
  void Remove(TargetNumber number, model::DatabaseNumber database, const Target& target);

  // Adds the numbers of the targets to `found`, possibly with duplicates. Document sets that are
  // found are concerned; queries still have to be checked.
  void Find(const Change& change, std::vector<TargetNumber>* found) const;

  // True if no target is left.
  bool empty() const { return by_document_.empty() && buckets_.empty(); }

 private:
  // Many targets may be in one place, and may all end together.
  using Numbers = std::set<TargetNumber>;
  // A value that a field, or one element of an array, must have.
  struct Probe {
    model::FieldPath path;
    bool in_array;
  };
  // The targets that require a value of one field, or of the fields in it. A tree, so that a record
  // is walked once, however many fields the targets name.
  struct Field {
    using NumbersByValue = std::unordered_map<std::string, Numbers>;
    NumbersByValue equal;
    NumbersByValue in_array;
    std::map<std::string, std::unique_ptr<Field>, std::less<>> fields;

    bool empty() const { return equal.empty() && in_array.empty() && fields.empty(); }
  };
  // The targets on one collection, one collection group, or a whole database.
  struct Bucket {
    Numbers any;  // Targets that no single value selects.
    Field by_value;
  };
  struct Place {
    std::string bucket;
    // No probes: the target is in `any`.
    std::vector<std::pair<Probe, std::string>> values;
    bool is_any = false;
  };

  static Place PlaceOf(model::DatabaseNumber database, const query::NormalizedQuery& query);
  static void Add(TargetNumber number, const Probe& probe, const std::string& value, Field* root);
  using Segments = std::span<const std::string>;
  static void Remove(TargetNumber number, Segments path, bool in_array, const std::string& value,
                     Field* field);
  static void FindIn(const Field& field, model::MapView map, std::vector<TargetNumber>* found);
  static void FindAt(const Field& field, const model::ValueView& value,
                     std::vector<TargetNumber>* found);

  std::unordered_map<std::string, Numbers> by_document_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace hearth::watch
