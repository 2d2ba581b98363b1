#pragma once

#include <span>
#include <string_view>

namespace hearth::kit {

// One file of a page, embedded in the binary.
struct Asset {
  std::string_view path;  // "index.html", "main.js"
  std::string_view content_type;
  std::string_view etag;
  std::string_view content;
  std::string_view gzip;  // The same, compressed; empty if that is not smaller.
};

using AssetBundle = std::span<const Asset>;

}  // namespace hearth::kit
