#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/document_key.h"
#include "model/field_path.h"
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
  using Numbers = std::vector<TargetNumber>;
  // A value that a field, or one element of an array, must have.
  struct Probe {
    model::FieldPath path;
    bool in_array;
    friend auto operator<=>(const Probe&, const Probe&) = default;
  };
  // The targets on one collection, one collection group, or a whole database.
  struct Bucket {
    Numbers any;  // Targets that no single value selects.
    std::map<Probe, std::unordered_map<std::string, Numbers>> by_value;
  };
  struct Place {
    std::string bucket;
    // No probes: the target is in `any`.
    std::vector<std::pair<Probe, std::string>> values;
    bool is_any = false;
  };

  static Place PlaceOf(model::DatabaseNumber database, const query::NormalizedQuery& query);
  static void FindIn(const Bucket& bucket, const model::Record& record, Numbers* found);

  std::unordered_map<std::string, Numbers> by_document_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace hearth::watch
