#pragma once

#include <string>

#include "base/status.h"
#include "http/exchange.h"
#include "model/names.h"

namespace hearth::service {

// The database of a stream: `named` by its first message, or else by the headers that SDKs send.
Result<model::DatabaseName> StreamDatabase(const std::string& named, const http::RequestHead& head);

// What ends the streams of a server that stops: their clients come back to the next one.
inline Status ServerIsEnding() { return Status(Code::kUnavailable, "The server is stopping."); }

// InvalidArgument when a later message names another one.
Status CheckStreamDatabase(const std::string& named, const model::DatabaseName& expected);

}  // namespace hearth::service
