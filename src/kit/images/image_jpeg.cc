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

}  // namespace

Result<Image> DecodeJpeg(std::string_view bytes, const ImageLimits& limits) {
  if (bytes.size() > std::numeric_limits<unsigned>::max()) {
    return InvalidArgument("the JPEG file is too large");
  }
  const Decoder decoder(tjInitDecompress());
  if (!decoder) return Status(Code::kResourceExhausted, "no memory for a JPEG decoder");
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colors = 0;
  if (tjDecompressHeader3(decoder.get(), ToBytes(bytes), bytes.size(), &width, &height,
                          &subsampling, &colors) != 0) {
    return Broken(decoder.get());
  }
  RETURN_IF_ERROR(CheckImageSize(width, height, limits));

  const tjscalingfactor scale = ChooseScale(width, height, limits.edge_wanted);
  Image image = MakeImage(TJSCALED(width, scale), TJSCALED(height, scale));
  const bool has_inks = colors == TJCS_CMYK || colors == TJCS_YCCK;
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
