#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/names.h"

namespace hearth::engine {

// What a read will touch: a read-write transaction locks it.
struct ReadScope {
  std::vector<model::DocumentPath> documents;
  // All present and future documents whose encoded paths (model/path_encoding.h) start with one of
  // these.
  std::vector<std::string> path_prefixes;
  // If not empty: only those in collections with this id.
  std::string collection_id = {};
  enum class Access : uint8_t { kSingleDocuments, kScans } access = Access::kSingleDocuments;
};

}  // namespace hearth::engine
