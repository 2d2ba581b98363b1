#pragma once

#include <memory>
#include <string>

namespace hearth::model {

// A document's stored record (model/document.h has its layout), shared by the cache, pending
// commits and readers. Null if there is no document.
using Record = std::shared_ptr<const std::string>;

}  // namespace hearth::model
