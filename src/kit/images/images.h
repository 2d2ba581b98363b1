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
  size_t pixels_max = 40'000'000;  // Of the file; its header is checked first.
  int edge_max = 20'000;
  // Larger images may be decoded at a smaller size if the format makes that cheap, but not below
  // this.
  int edge_wanted = 20'000;
};

// Decodes a JPEG, PNG, GIF or WebP file, recognised by its content. Animations yield their first
// frame. The EXIF orientation is applied. InvalidArgument describes what is wrong with it.
Result<Image> DecodeImage(std::string_view bytes, const ImageLimits& limits);

// The memory that decoding this file and shrinking the result takes at most, in bytes: a multiple
// of the pixels that its header announces. Fails as DecodeImage does; a file that is broken further
// on is not noticed.
Result<size_t> ImageMemoryBytes(std::string_view bytes, const ImageLimits& limits);

// The same image with a longer edge of at most `edge_max`; never enlarged.
Result<Image> ShrinkImage(const Image& image, int edge_max);

// Smaller files take more time to encode. kFast takes a third of the time, for images that are made
// while a user waits.
enum class WebpEffort : uint8_t { kFast, kSmall };

// `quality`: 0 to 100. The file holds pixels and no metadata.
Result<std::string> EncodeWebp(const Image& image, int quality,
                               WebpEffort effort = WebpEffort::kSmall);

}  // namespace hearth::kit
