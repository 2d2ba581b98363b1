#pragma once

#include <string>

#include "base/random.h"

namespace hearth::model {

// 20 letters and digits by chance, as the official SDKs name documents.
std::string NewDocumentId(RandomSource& random);

}  // namespace hearth::model
