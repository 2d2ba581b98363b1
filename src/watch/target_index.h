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

// Finds the targets that a change may concern, without a look at all the others: by document, by
// collection, and there by the values that queries want fields to have.
//
// Threads: one at a time. Ownership: copies what it needs of the targets.
class TargetIndex {
 public:
  void Add(TargetNumber number, model::DatabaseNumber database, const Target& target);
  // Takes the same target as Add did.
  void Remove(TargetNumber number, model::DatabaseNumber database, const Target& target);

  // Adds the numbers of the targets to `found`, some perhaps twice. Of single documents all are
  // concerned; queries have to be asked.
  void Find(const Change& change, std::vector<TargetNumber>* found) const;

  bool empty() const { return targets_ == 0; }

 private:
  using Numbers = std::vector<TargetNumber>;
  // A value that a field, or one of the items of an array, must have.
  struct Probe {
    model::FieldPath path;
    bool in_array;
    friend auto operator<=>(const Probe&, const Probe&) = default;
  };
  // The targets on one collection, or one collection group, or everything in a database.
  struct Bucket {
    Numbers any;  // Those that no single value picks out.
    std::map<Probe, std::unordered_map<std::string, Numbers>> by_value;
  };
  struct Place {
    std::string bucket;
    // Absent probes: the target is among `any`.
    std::vector<std::pair<Probe, std::string>> values;
    bool is_any = false;
  };

  static Place PlaceOf(model::DatabaseNumber database, const query::NormalizedQuery& query);
  static void FindIn(const Bucket& bucket, const model::Record& record, Numbers* found);

  size_t targets_ = 0;
  std::unordered_map<std::string, Numbers> by_document_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace hearth::watch
