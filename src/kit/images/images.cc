#include "kit/images/images.h"

#include <string>

#include "kit/images/image_formats.h"

namespace hearth::kit {

Result<Image> DecodeImage(std::string_view bytes, const ImageLimits& limits) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xff\xd8\xff"sv)) return DecodeJpeg(bytes, limits);
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return DecodePng(bytes, limits);
  if (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) {
    return DecodeGif(bytes, limits);
  }
  if (bytes.starts_with("RIFF"sv) && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP"sv) {
    return DecodeWebp(bytes, limits);
  }
  return InvalidArgument("the file is not a JPEG, PNG, GIF or WebP image");
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
