// All of the C++ client.
#pragma once

#include "base/prefixed_macros.h"
#include "client/embedded/embedded.h"
#include "client/firestore.h"
#include "client/remote/remote.h"
