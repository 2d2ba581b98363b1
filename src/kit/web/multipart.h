#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hearth::kit {

// One part of a form with files. Borrows from the body that was parsed.
struct FormPart {
  std::string name;
  std::string file_name;     // Empty for what is no file.
  std::string content_type;  // As the client claims; empty where it does not say.
  std::string_view content;
};

// The parts of a multipart/form-data body. `content_type`: the request's header, with the boundary.
// InvalidArgument for a body or header that is malformed or cut off, or for more than `parts_max`.
Result<std::vector<FormPart>> ParseMultipart(std::string_view content_type, std::string_view body,
                                             size_t parts_max);

}  // namespace hearth::kit
