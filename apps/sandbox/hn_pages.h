#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/sandbox/hn_items.h"

namespace hearth::sandbox {

// HTML pages for made-up stories. Links are relative: "item?id=1" and "article?id=1" are in the
// same folder as "style.css". Each page says that it is made up.

// The story with its comments. `now` in seconds since the epoch.
std::string MakeItemPage(const HnStoryPage& story, int64_t now);
// The story's article. Requires a site.
std::string MakeArticlePage(const HnStoryPage& story);
// `message`: plain text.
std::string MakeMessagePage(std::string_view title, std::string_view message);
std::string_view PageStyle();

}  // namespace hearth::sandbox
