#include "index/index_config_merge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status_macros.h"
#include "index/index_config_order.h"

namespace hearth::index {
namespace {

// Adds one part after the other. Borrows the sources' names.
class Merger {
 public:
  Status Add(const std::string& source, const IndexConfig& config) {
    for (const Definition& each : config.composites) composites_.emplace(KeyOf(each), each);
    for (const VectorIndex& each : config.vectors) RETURN_IF_ERROR(AddVector(source, each));
    for (const FieldOverride& each : config.overrides) RETURN_IF_ERROR(AddOverride(source, each));
    for (const TtlPolicy& each : config.ttl_policies) RETURN_IF_ERROR(AddTtlPolicy(source, each));
    return Status();
  }

  IndexConfig Finish() {
    IndexConfig merged;
    for (auto& [key, each] : composites_) merged.composites.push_back(std::move(each));
    for (auto& [key, each] : vectors_) merged.vectors.push_back(std::move(each.value));
    for (auto& [key, each] : overrides_) merged.overrides.push_back(std::move(each.value));
    for (auto& [group, each] : ttl_policies_) merged.ttl_policies.push_back(std::move(each.value));
    Sort(merged);
    return merged;
  }

 private:
  // A setting, and the first part that contains it.
  template <typename T>
  struct Stated {
    T value;
    const std::string& source;
  };

  Status AddVector(const std::string& source, const VectorIndex& index) {
    const auto [first, is_new] = vectors_.emplace(KeyOf(index), Stated<VectorIndex>{index, source});
    if (is_new || first->second.value == index) return Status();
    return InvalidArgument("the vector index of " + index.field.ToString() + " of " +
                           index.collection_group + " has different options in " +
                           first->second.source + " and in " + source);
  }

  Status AddOverride(const std::string& source, const FieldOverride& override) {
    const std::string field = override.field ? override.field->ToString() : "*";
    const auto [first, is_new] = overrides_.emplace(std::pair(override.collection_group, field),
                                                    Stated<FieldOverride>{override, source});
    if (is_new) return Status();
    Stated<FieldOverride>& stated = first->second;
    std::vector<SingleFieldIndex>& indexes = stated.value.indexes;
    if (indexes.empty() != override.indexes.empty()) {
      const std::string& exempting = indexes.empty() ? stated.source : source;
      const std::string& wanting = indexes.empty() ? source : stated.source;
      return InvalidArgument("the field " + field + " of " + override.collection_group +
                             " is exempt from indexing in " + exempting + " but has indexes in " +
                             wanting);
    }
    for (const SingleFieldIndex& each : override.indexes) {
      if (std::ranges::find(indexes, each) == indexes.end()) indexes.push_back(each);
    }
    return Status();
  }

  Status AddTtlPolicy(const std::string& source, const TtlPolicy& policy) {
    const auto [first, is_new] =
        ttl_policies_.emplace(policy.collection_group, Stated<TtlPolicy>{policy, source});
    if (is_new || first->second.value == policy) return Status();
    const auto text = [](const TtlPolicy& each) {
      const bool has_offset = each.offset.count() != 0;
      return each.field.ToString() + (has_offset ? " + " + TtlOffsetText(each.offset) : "");
    };
    return InvalidArgument("the collection group " + policy.collection_group +
                           " has two TTL policies: " + text(first->second.value) + " in " +
                           first->second.source + " and " + text(policy) + " in " + source);
  }

  std::map<IndexKey, Definition> composites_;
  std::map<IndexKey, Stated<VectorIndex>> vectors_;
  std::map<std::pair<std::string, std::string>, Stated<FieldOverride>> overrides_;
  std::map<std::string, Stated<TtlPolicy>> ttl_policies_;
};

}  // namespace

Result<IndexConfig> MergeIndexConfigs(const std::vector<SourcedIndexConfig>& parts) {
  Merger merger;
  for (const SourcedIndexConfig& part : parts) {
    RETURN_IF_ERROR(merger.Add(part.source, part.config));
  }
  IndexConfig merged = merger.Finish();
  RETURN_IF_ERROR(CheckDeclaredIndexes(merged));
  return merged;
}

}  // namespace hearth::index
