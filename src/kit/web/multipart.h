#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hearth::kit {

// One part of a form with files. Borrows from the parsed body.
struct FormPart {
  std::string name;
  std::string file_name;     // Empty if it is not a file.
  std::string content_type;  // As claimed by the client; may be empty.
  std::string_view content;
};

// The parts of a multipart/form-data body. `content_type`: the request's header, with the boundary.
// InvalidArgument for a body or header that is malformed or truncated, or for more than
// `parts_max`.
Result<std::vector<FormPart>> ParseMultipart(std::string_view content_type, std::string_view body,
                                             size_t parts_max);

}  // namespace hearth::kit
