#pragma once

#include <string>

#include "base/random.h"

namespace hearth::model {

// 20 random letters and digits, like the ids that the official SDKs generate.
std::string NewDocumentId(RandomSource& random);

}  // namespace hearth::model
