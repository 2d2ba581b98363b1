// Content negotiation and the origin of requests.
#pragma once

#include <string_view>

#include "http/exchange.h"

namespace hearth::kit {

// Whether the value of Accept-Encoding allows gzip.
bool AcceptsGzip(std::string_view accept_encoding);

// Whether `if_none_match` names `etag`, by weak comparison (RFC 9110).
bool MatchesEtag(std::string_view if_none_match, std::string_view etag);

// Whether the value of Accept asks for HTML by name: browsers do, programs do not.
bool WantsHtml(std::string_view accept);

// Whether a page of another site, or of another port of this host, made the browser send this. Only
// browsers send the origin of a request: other clients are never cross-site.
bool IsCrossSite(const http::RequestHead& head);

}  // namespace hearth::kit
