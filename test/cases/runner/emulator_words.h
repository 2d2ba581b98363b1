#pragma once

#include "base/status.h"
#include "cases/runner/values.h"

namespace hearth::cases {

// An error of the official emulator in the words of the cloud, which are Hearth's, for the few that
// come up everywhere: docs/compatibility.md has them. Other errors stay as they are, and cases
// say for themselves where the emulator's differ.
Status InTheCloudsWords(const Status& status, const Scope& scope);

}  // namespace hearth::cases
