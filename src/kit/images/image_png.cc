#include <png.h>

#include <string>

#include "base/status_macros.h"
#include "kit/images/image_formats.h"

namespace hearth::kit {
namespace {

// libpng's simplified reader: it neither prints errors nor uses longjmp across our frames.
class PngReader {
 public:
  PngReader() { image_.version = PNG_IMAGE_VERSION; }
  ~PngReader() { png_image_free(&image_); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  png_image& image() { return image_; }
  Status Broken() const {
    return InvalidArgument("the PNG file is broken: " + std::string(image_.message));
  }

 private:
  png_image image_ = {};
};

Status ReadHeader(PngReader& reader, std::string_view bytes, const ImageLimits& limits) {
  png_image& png = reader.image();
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) {
    return reader.Broken();
  }
  return CheckImageSize(png.width, png.height, limits);
}

}  // namespace

Result<ImageSize> MeasurePng(std::string_view bytes, const ImageLimits& limits) {
  PngReader reader;
  RETURN_IF_ERROR(ReadHeader(reader, bytes, limits));
  return ImageSize{.width = static_cast<int>(reader.image().width),
                   .height = static_cast<int>(reader.image().height)};
}

Result<Image> DecodePng(std::string_view bytes, const ImageLimits& limits) {
  PngReader reader;
  RETURN_IF_ERROR(ReadHeader(reader, bytes, limits));
  png_image& png = reader.image();
  png.format = PNG_FORMAT_RGBA;
  Image image = MakeImage(static_cast<int>(png.width), static_cast<int>(png.height));
  if (png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr) == 0) {
    return reader.Broken();
  }
  return image;
}

}  // namespace hearth::kit
