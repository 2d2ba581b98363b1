#include <turbojpeg.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/status_macros.h"
#include "kit/images/image_formats.h"

namespace hearth::kit {
namespace {

struct DecoderDeleter {
  void operator()(void* decoder) const { tjDestroy(decoder); }
};
using Decoder = std::unique_ptr<std::remove_pointer_t<tjhandle>, DecoderDeleter>;

Status Broken(tjhandle decoder) {
  return InvalidArgument("the JPEG file is broken: " + std::string(tjGetErrorStr2(decoder)));
}

// The smallest cheap scale of the format that is not below the wanted size.
tjscalingfactor ChooseScale(int width, int height, int edge_wanted) {
  tjscalingfactor best = {1, 1};
  int count = 0;
  const tjscalingfactor* const all = tjGetScalingFactors(&count);
  for (int i = 0; i < count; ++i) {
    const tjscalingfactor factor = all[i];
    const bool is_smaller = factor.num * best.denom < best.num * factor.denom;
    const int edge = std::max(TJSCALED(width, factor), TJSCALED(height, factor));
    if (is_smaller && edge >= edge_wanted) best = factor;
  }
  return best;
}

// CMYK to RGB, in place. CMYK files store inverted ink values.
void FromInks(Image& image) {
  for (size_t i = 0; i < image.pixels.size(); i += kPixelBytes) {
    uint8_t* const pixel = image.pixels.data() + i;
    for (size_t channel = 0; channel < 3; ++channel) {
      pixel[channel] = static_cast<uint8_t>(pixel[channel] * pixel[3] / 255);
    }
    pixel[3] = 255;
  }
}

uint16_t Read16(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>(static_cast<uint8_t>(bytes[at]) << 8 |
                               static_cast<uint8_t>(bytes[at + 1]));
}

// Whether the file has several scans: it is progressive, or its first scan lacks a colour. True
// also for files whose structure is not clear.
bool HasManyScans(std::string_view bytes) {
  int colors = 0;
  size_t at = 2;  // After the marker that starts the file.
  while (at + 4 <= bytes.size()) {
    if (static_cast<uint8_t>(bytes[at]) != 0xff) {
      ++at;  // Stray bytes between segments.
      continue;
    }
    const auto marker = static_cast<uint8_t>(bytes[at + 1]);
    if (marker == 0xff || marker == 0x00 || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += marker == 0xff ? 1 : 2;  // Padding, or a marker without a segment.
      continue;
    }
    const size_t length = Read16(bytes, at + 2);
    const bool is_frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame && marker != 0xc0 && marker != 0xc1) return true;
    if (is_frame && at + 9 < bytes.size()) colors = static_cast<uint8_t>(bytes[at + 9]);
    if (marker == 0xda) {  // The first scan.
      return at + 4 >= bytes.size() || static_cast<uint8_t>(bytes[at + 4]) < colors;
    }
    at += 2 + length;
  }
  return true;
}

struct JpegHeader {
  int width = 0;
  int height = 0;
  int colors = 0;
};

Result<JpegHeader> ReadHeader(tjhandle decoder, std::string_view bytes, const ImageLimits& limits) {
  if (bytes.size() > std::numeric_limits<unsigned>::max()) {
    return InvalidArgument("the JPEG file is too large");
  }
  if (decoder == nullptr) return Status(Code::kResourceExhausted, "no memory for a JPEG decoder");
  JpegHeader header;
  int subsampling = 0;
  if (tjDecompressHeader3(decoder, ToBytes(bytes), bytes.size(), &header.width, &header.height,
                          &subsampling, &header.colors) != 0) {
    return Broken(decoder);
  }
  RETURN_IF_ERROR(CheckImageSize(header.width, header.height, limits));
  return header;
}

}  // namespace

Result<ImageSize> MeasureJpeg(std::string_view bytes, const ImageLimits& limits) {
  const Decoder decoder(tjInitDecompress());
  ASSIGN_OR_RETURN(const JpegHeader header, ReadHeader(decoder.get(), bytes, limits));
  const tjscalingfactor scale = ChooseScale(header.width, header.height, limits.edge_wanted);
  ImageSize size = {.width = TJSCALED(header.width, scale),
                    .height = TJSCALED(header.height, scale)};
  if (HasManyScans(bytes)) {
    // At most four colours, of two bytes each.
    size.coefficient_bytes =
        static_cast<size_t>(header.width) * static_cast<size_t>(header.height) * 4 * 2;
  }
  return size;
}

Result<Image> DecodeJpeg(std::string_view bytes, const ImageLimits& limits) {
  const Decoder decoder(tjInitDecompress());
  ASSIGN_OR_RETURN(const JpegHeader header, ReadHeader(decoder.get(), bytes, limits));
  const tjscalingfactor scale = ChooseScale(header.width, header.height, limits.edge_wanted);
  Image image = MakeImage(TJSCALED(header.width, scale), TJSCALED(header.height, scale));
  const bool has_inks = header.colors == TJCS_CMYK || header.colors == TJCS_YCCK;
  const int failed =
      tjDecompress2(decoder.get(), ToBytes(bytes), bytes.size(), image.pixels.data(), image.width,
                    0, image.height, has_inks ? TJPF_CMYK : TJPF_RGBA, TJFLAG_LIMITSCANS);
  if (failed != 0) {
    // Cameras leave stray bytes between segments, which every viewer skips. Missing image data is
    // an error.
    const std::string_view reason = tjGetErrorStr2(decoder.get());
    const bool is_whole = tjGetErrorCode(decoder.get()) == TJERR_WARNING &&
                          reason.find("remature end") == std::string_view::npos;
    if (!is_whole) return Broken(decoder.get());
  }
  if (has_inks) FromInks(image);
  return TurnUpright(std::move(image), ReadOrientation(bytes));
}

}  // namespace hearth::kit
