// What a request's head asks for, and whether it comes from where it should.
#pragma once

#include <string_view>

#include "http/exchange.h"

namespace hearth::kit {

// Whether the value of Accept-Encoding lets an answer be gzip.
bool AcceptsGzip(std::string_view accept_encoding);

// Whether `if_none_match` names `etag`; weak comparison, as RFC 9110 wants it there.
bool MatchesEtag(std::string_view if_none_match, std::string_view etag);

// Whether the value of Accept asks for HTML by name: browsers do, programs do not.
bool WantsHtml(std::string_view accept);

// Whether a page of another site, or of another port of this host, has the browser send this. Only
// browsers say where a request comes from: others are never cross-site.
bool IsCrossSite(const http::RequestHead& head);

}  // namespace hearth::kit
