#pragma once

#include <memory>
#include <string>

#include "cases/runner/session.h"
#include "client/firestore.h"

namespace hearth::cases {

// Listeners of the C++ client: one for each target. `name`: of the database.
std::unique_ptr<Listeners> NewClientListeners(client::Firestore database, std::string name);

}  // namespace hearth::cases
