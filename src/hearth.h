// All of the C++ client.
#pragma once

#include "client/embedded/embedded.h"
#include "client/firestore.h"
#include "client/remote/remote.h"
