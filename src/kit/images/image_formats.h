// The formats that DecodeImage knows, one file each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "kit/images/images.h"

namespace hearth::kit {

// Each checks the size in the file's header before it allocates pixels. Errors: InvalidArgument
// describes what is wrong with the file.
Result<Image> DecodeJpeg(std::string_view bytes, const ImageLimits& limits);
Result<Image> DecodePng(std::string_view bytes, const ImageLimits& limits);
Result<Image> DecodeGif(std::string_view bytes, const ImageLimits& limits);
Result<Image> DecodeWebp(std::string_view bytes, const ImageLimits& limits);

// The size that the file's header announces, checked against the limits.
struct ImageSize {
  int width;
  int height;
  // Decoders of files with several scans keep the coefficients of the whole picture.
  size_t coefficient_bytes = 0;
};
Result<ImageSize> MeasureJpeg(std::string_view bytes, const ImageLimits& limits);
Result<ImageSize> MeasurePng(std::string_view bytes, const ImageLimits& limits);
Result<ImageSize> MeasureGif(std::string_view bytes, const ImageLimits& limits);
Result<ImageSize> MeasureWebp(std::string_view bytes, const ImageLimits& limits);

// InvalidArgument for an image without pixels or beyond the limits.
Status CheckImageSize(int64_t width, int64_t height, const ImageLimits& limits);
// Transparent black.
Image MakeImage(int width, int height);

inline constexpr size_t kPixelBytes = 4;
inline size_t RowBytes(int width) { return static_cast<size_t>(width) * kPixelBytes; }
inline const uint8_t* ToBytes(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// The camera's orientation, numbered as in EXIF: which stored row and column are the top and the
// left of the scene.
enum class Orientation : uint8_t {
  kTopLeft = 1,
  kTopRight = 2,
  kBottomRight = 3,
  kBottomLeft = 4,
  kLeftTop = 5,
  kRightTop = 6,
  kRightBottom = 7,
  kLeftBottom = 8,
};

// `exif`: a whole JPEG file, or the EXIF block of another format. kTopLeft if missing or invalid.
Orientation ReadOrientation(std::string_view exif);
Image TurnUpright(Image image, Orientation orientation);

}  // namespace hearth::kit
