#include "kit/images/images.h"

#include <string>

#include "base/status_macros.h"
#include "kit/images/image_formats.h"

namespace hearth::kit {

namespace {

enum class Format : uint8_t { kJpeg, kPng, kGif, kWebp };

Result<Format> FormatOf(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xff\xd8\xff"sv)) return Format::kJpeg;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return Format::kPng;
  if (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) return Format::kGif;
  if (bytes.starts_with("RIFF"sv) && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP"sv) {
    return Format::kWebp;
  }
  return InvalidArgument("the file is not a JPEG, PNG, GIF or WebP image");
}

Result<ImageSize> MeasureImage(std::string_view bytes, const ImageLimits& limits) {
  ASSIGN_OR_RETURN(const Format format, FormatOf(bytes));
  switch (format) {
    case Format::kJpeg:
      return MeasureJpeg(bytes, limits);
    case Format::kPng:
      return MeasurePng(bytes, limits);
    case Format::kGif:
      return MeasureGif(bytes, limits);
    case Format::kWebp:
      return MeasureWebp(bytes, limits);
  }
  return Status(Code::kInternal, "unknown format");
}

}  // namespace

Result<Image> DecodeImage(std::string_view bytes, const ImageLimits& limits) {
  ASSIGN_OR_RETURN(const Format format, FormatOf(bytes));
  switch (format) {
    case Format::kJpeg:
      return DecodeJpeg(bytes, limits);
    case Format::kPng:
      return DecodePng(bytes, limits);
    case Format::kGif:
      return DecodeGif(bytes, limits);
    case Format::kWebp:
      return DecodeWebp(bytes, limits);
  }
  return Status(Code::kInternal, "unknown format");
}

Result<size_t> ImageMemoryBytes(std::string_view bytes, const ImageLimits& limits) {
  ASSIGN_OR_RETURN(const ImageSize size, MeasureImage(bytes, limits));
  // Turning, shrinking, and the decoder of lossless WebP each need a second copy of the pixels.
  return 2 * RowBytes(size.width) * static_cast<size_t>(size.height) + size.coefficient_bytes;
}

Status CheckImageSize(int64_t width, int64_t height, const ImageLimits& limits) {
  if (width < 1 || height < 1) return InvalidArgument("the picture has no pixels");
  const std::string size = std::to_string(width) + " x " + std::to_string(height);
  if (width > limits.edge_max || height > limits.edge_max) {
    return InvalidArgument("the picture is " + size + " pixels; the limit for an edge is " +
                           std::to_string(limits.edge_max));
  }
  if (static_cast<uint64_t>(width) * static_cast<uint64_t>(height) > limits.pixels_max) {
    return InvalidArgument("the picture is " + size + " pixels; the limit is " +
                           std::to_string(limits.pixels_max) + " in all");
  }
  return {};
}

Image MakeImage(int width, int height) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<uint8_t>(RowBytes(width) * static_cast<size_t>(height))};
}

}  // namespace hearth::kit
