// Cross-origin requests (CORS): which web pages may use an answer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "http/plain.h"

namespace hearth::http {

// Lets the page that made the request read its answer, including errors. Every origin is allowed
// here: the server answers pages of unknown origins itself (`origin_policy.h`). Adds nothing if the
// request has no origin. Names are in lower case.
void AppendCorsHeaders(const RequestHead& head,
                       std::vector<std::pair<std::string, std::string>>* headers);

// The answer to the OPTIONS request that a browser sends before the actual request: every method
// and every header field is allowed.
PlainAnswer PreflightAnswer(const RequestHead& head);

}  // namespace hearth::http
