// Cross-origin requests (CORS): which web pages may use an answer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "http/plain.h"

namespace hearth::http {

// Lets the page that made the request read its answer, errors included. Every origin may: a page
// under development comes from any port, and clients in a browser have no other way to a database.
// Adds nothing where no page has asked. Names are in lower case.
void AppendCorsHeaders(const RequestHead& head,
                       std::vector<std::pair<std::string, std::string>>* headers);

// The answer to the OPTIONS request by which a browser asks before it sends a request: every
// method and every header field may come.
PlainAnswer PreflightAnswer(const RequestHead& head);

}  // namespace hearth::http
