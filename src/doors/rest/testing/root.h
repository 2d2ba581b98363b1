// For tests: where documents are.
#pragma once

namespace hearth::doors::rest {

inline constexpr const char* kRoot = "/v1/projects/p/databases/d/documents";

}  // namespace hearth::doors::rest
