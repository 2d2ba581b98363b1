// For tests: the root path of documents.
#pragma once

namespace hearth::doors::rest {

inline constexpr const char* kRoot = "/v1/projects/p/databases/d/documents";

}  // namespace hearth::doors::rest
