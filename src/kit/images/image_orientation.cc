#include <libexif/exif-data.h>

#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "kit/images/image_formats.h"

namespace hearth::kit {
namespace {

struct ExifDeleter {
  void operator()(ExifData* data) const { exif_data_unref(data); }
};
using ExifPointer = std::unique_ptr<ExifData, ExifDeleter>;

}  // namespace

Orientation ReadOrientation(std::string_view exif) {
  if (exif.size() > std::numeric_limits<unsigned>::max()) return Orientation::kTopLeft;
  const ExifPointer data(exif_data_new());
  if (!data) return Orientation::kTopLeft;
  // Otherwise libexif adds the tags that the standard requires and this file lacks.
  exif_data_unset_option(data.get(), EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
  exif_data_load_data(data.get(), ToBytes(exif), static_cast<unsigned>(exif.size()));
  const ExifEntry* const entry =
      exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
  if (entry == nullptr || entry->format != EXIF_FORMAT_SHORT || entry->components != 1 ||
      entry->size < sizeof(uint16_t)) {
    return Orientation::kTopLeft;
  }
  const ExifShort number = exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
  if (number < 1 || number > 8) return Orientation::kTopLeft;
  return static_cast<Orientation>(number);
}

Image TurnUpright(Image image, Orientation orientation) {
  if (orientation == Orientation::kTopLeft) return image;
  const bool swaps_axes = orientation >= Orientation::kLeftTop;
  const bool from_right =
      orientation == Orientation::kTopRight || orientation == Orientation::kBottomRight ||
      orientation == Orientation::kRightBottom || orientation == Orientation::kLeftBottom;
  const bool from_bottom =
      orientation == Orientation::kBottomRight || orientation == Orientation::kBottomLeft ||
      orientation == Orientation::kRightTop || orientation == Orientation::kRightBottom;

  Image upright =
      MakeImage(swaps_axes ? image.height : image.width, swaps_axes ? image.width : image.height);
  uint8_t* to = upright.pixels.data();
  for (int y = 0; y < upright.height; ++y) {
    for (int x = 0; x < upright.width; ++x, to += kPixelBytes) {
      const int column = swaps_axes ? y : x;
      const int row = swaps_axes ? x : y;
      const int from_x = from_right ? image.width - 1 - column : column;
      const int from_y = from_bottom ? image.height - 1 - row : row;
      const size_t from = static_cast<size_t>(from_y) * RowBytes(image.width) + RowBytes(from_x);
      std::memcpy(to, image.pixels.data() + from, kPixelBytes);
    }
  }
  return upright;
}

}  // namespace hearth::kit
