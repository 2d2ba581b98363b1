// Heads and errors of JSON answers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "http/exchange.h"
#include "http/plain.h"
#include "wire/json.h"

namespace hearth::doors::rest {

inline constexpr const char* kJsonType = "application/json; charset=UTF-8";

// The headers of every answer to the request, besides its type.
std::vector<std::pair<std::string, std::string>> CommonHeaders(const http::RequestHead& head);

// `http_status` 0 stands for the status of the code.
http::PlainAnswer ErrorAnswer(const http::RequestHead& head, const Status& status,
                              wire::JsonLayout layout, int http_status = 0);

}  // namespace hearth::doors::rest
