#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "index/index_config.h"

namespace hearth::index {

// A configuration and its source as named in messages: "'indexes.json'", "application feed".
struct SourcedIndexConfig {
  std::string source;
  IndexConfig config;
};

// The union of the parts. Settings in several parts count once, and an override has the indexes of
// all parts. The result is valid and sorted.
//
// InvalidArgument, with both sources, for settings that contradict each other: two TTL policies of
// one collection group, a field that one part exempts and another indexes, a vector index with
// different options. Also for too many indexes in all.
Result<IndexConfig> MergeIndexConfigs(const std::vector<SourcedIndexConfig>& parts);

}  // namespace hearth::index
