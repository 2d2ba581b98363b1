#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "index/index_config.h"

namespace hearth::index {

// A configuration, and where it comes from as messages say it: "'indexes.json'", "application
// feed".
struct SourcedIndexConfig {
  std::string source;
  IndexConfig config;
};

// All that the parts say together: what several of them say counts once, and an override has the
// indexes of all of them. Valid, and in order.
//
// InvalidArgument, with both sources, for what cannot hold together: two TTL policies of one
// collection group, a field that one exempts and another wants indexed, a vector index with
// different options.
Result<IndexConfig> MergeIndexConfigs(const std::vector<SourcedIndexConfig>& parts);

}  // namespace hearth::index
