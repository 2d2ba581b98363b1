#pragma once

#include "base/status.h"
#include "cases/runner/values.h"

namespace hearth::cases {

// Translates an error of the official emulator to the cloud's wording, which is also Hearth's, for
// the few errors that occur everywhere: docs/compatibility.md lists them. Other errors are
// unchanged, and cases specify themselves where the emulator's differ.
Status InTheCloudsWords(const Status& status, const Scope& scope);

}  // namespace hearth::cases
