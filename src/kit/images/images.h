#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hearth::kit {

// Pixels in memory: four bytes each (red, green, blue, alpha), rows from the top.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels = {};
};

struct ImageLimits {
  size_t pixels_max = 40'000'000;  // Of the file; what a few kilobytes can claim is checked first.
  int edge_max = 20'000;
  // Larger pictures may be decoded smaller where their format makes that cheap, but not below this.
  int edge_wanted = 20'000;
};

// A JPEG, PNG, GIF or WebP file, known by its content; the first picture of those that move; turned
// the way its camera was held. InvalidArgument says what is wrong with it.
Result<Image> DecodeImage(std::string_view bytes, const ImageLimits& limits);

// The same picture with a longer edge of at most `edge_max`; never larger than it was.
Result<Image> ShrinkImage(const Image& image, int edge_max);

// Small files cost time: kFast takes a third of it, for pictures that are made while somebody
// waits.
enum class WebpEffort : uint8_t { kFast, kSmall };

// `quality`: 0 to 100. Holds the pixels and nothing else.
Result<std::string> EncodeWebp(const Image& image, int quality,
                               WebpEffort effort = WebpEffort::kSmall);

}  // namespace hearth::kit
