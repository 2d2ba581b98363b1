#pragma once

#include <string>

#include "base/status.h"
#include "http/exchange.h"
#include "model/names.h"

namespace hearth::service {

// The database of a stream: `named` by its first message, or else by the headers that SDKs send.
Result<model::DatabaseName> StreamDatabase(const std::string& named, const http::RequestHead& head);

// Ends the streams of a server that is stopping: their clients reconnect to the next one.
inline Status ServerIsEnding() { return Status(Code::kUnavailable, "The server is stopping."); }

// InvalidArgument if a later message names another database.
Status CheckStreamDatabase(const std::string& named, const model::DatabaseName& expected);

}  // namespace hearth::service
