// All of the C++ client.
#pragma once

#include "client/embedded.h"
#include "client/firestore.h"
#include "client/remote.h"
