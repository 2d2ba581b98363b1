#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "kit/images/image_formats.h"

namespace hearth::kit {
namespace {

struct DemuxerDeleter {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};
using Demuxer = std::unique_ptr<WebPDemuxer, DemuxerDeleter>;

class FirstFrame {
 public:
  explicit FirstFrame(const WebPDemuxer* demuxer)
      : found_(WebPDemuxGetFrame(demuxer, 1, &frame_) != 0) {}
  ~FirstFrame() { WebPDemuxReleaseIterator(&frame_); }
  FirstFrame(const FirstFrame&) = delete;
  FirstFrame& operator=(const FirstFrame&) = delete;

  bool found() const { return found_; }
  const WebPIterator& operator*() const { return frame_; }

 private:
  WebPIterator frame_ = {};
  const bool found_;
};

Orientation OrientationOf(const WebPDemuxer* demuxer) {
  WebPChunkIterator chunk = {};
  if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk) == 0) return Orientation::kTopLeft;
  // Most writers omit the prefix that libexif expects.
  static constexpr std::string_view kOpening("Exif\0\0", 6);
  std::string exif(reinterpret_cast<const char*>(chunk.chunk.bytes), chunk.chunk.size);
  WebPDemuxReleaseChunkIterator(&chunk);
  if (!exif.starts_with(kOpening)) exif.insert(0, kOpening);
  return ReadOrientation(exif);
}

Status Broken(std::string_view reason) {
  return InvalidArgument("the WebP file is broken: " + std::string(reason));
}

// libwebp's image type. Threads: one at a time.
class Picture {
 public:
  Picture() : is_usable_(WebPPictureInit(&picture_) != 0) {}
  ~Picture() { WebPPictureFree(&picture_); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  Status Import(const Image& image) {
    if (!is_usable_) return Status(Code::kInternal, "libwebp has an incompatible version");
    picture_.use_argb = 1;
    picture_.width = image.width;
    picture_.height = image.height;
    if (WebPPictureImportRGBA(&picture_, image.pixels.data(),
                              static_cast<int>(RowBytes(image.width))) == 0) {
      return Status(Code::kResourceExhausted, "no memory for a picture");
    }
    return {};
  }
  WebPPicture* get() { return &picture_; }

 private:
  WebPPicture picture_ = {};
  const bool is_usable_;
};

Image Export(const WebPPicture& picture) {
  Image image = MakeImage(picture.width, picture.height);
  uint8_t* to = image.pixels.data();
  for (int y = 0; y < picture.height; ++y) {
    const uint32_t* const row = picture.argb + static_cast<ptrdiff_t>(y) * picture.argb_stride;
    for (int x = 0; x < picture.width; ++x, to += kPixelBytes) {
      to[0] = static_cast<uint8_t>(row[x] >> 16);
      to[1] = static_cast<uint8_t>(row[x] >> 8);
      to[2] = static_cast<uint8_t>(row[x]);
      to[3] = static_cast<uint8_t>(row[x] >> 24);
    }
  }
  return image;
}

int AppendToString(const uint8_t* data, size_t size, const WebPPicture* picture) {
  static_cast<std::string*>(picture->custom_ptr)->append(reinterpret_cast<const char*>(data), size);
  return 1;
}

Demuxer Open(std::string_view bytes) {
  const WebPData data = {.bytes = ToBytes(bytes), .size = bytes.size()};
  return Demuxer(WebPDemux(&data));
}

Result<ImageSize> CanvasOf(const WebPDemuxer* demuxer, const ImageLimits& limits) {
  if (demuxer == nullptr) return Broken("it is cut off or not well-formed");
  const uint32_t width = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH);
  const uint32_t height = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT);
  RETURN_IF_ERROR(CheckImageSize(width, height, limits));
  return ImageSize{.width = static_cast<int>(width), .height = static_cast<int>(height)};
}

}  // namespace

Result<ImageSize> MeasureWebp(std::string_view bytes, const ImageLimits& limits) {
  return CanvasOf(Open(bytes).get(), limits);
}

Result<Image> DecodeWebp(std::string_view bytes, const ImageLimits& limits) {
  const Demuxer demuxer = Open(bytes);
  ASSIGN_OR_RETURN(const ImageSize size, CanvasOf(demuxer.get(), limits));
  const FirstFrame first(demuxer.get());
  if (!first.found()) return Broken("it holds no picture");

  const WebPIterator& frame = *first;
  Image canvas = MakeImage(size.width, size.height);
  if (frame.width <= 0 || frame.height <= 0 || frame.x_offset < 0 || frame.y_offset < 0 ||
      frame.width > canvas.width - frame.x_offset ||
      frame.height > canvas.height - frame.y_offset) {
    return Broken("its first picture is not within its canvas");
  }
  const size_t stride = RowBytes(canvas.width);
  const size_t offset = static_cast<size_t>(frame.y_offset) * stride + RowBytes(frame.x_offset);
  if (WebPDecodeRGBAInto(frame.fragment.bytes, frame.fragment.size, canvas.pixels.data() + offset,
                         canvas.pixels.size() - offset, static_cast<int>(stride)) == nullptr) {
    return Broken("its pixels cannot be decoded");
  }
  return TurnUpright(std::move(canvas), OrientationOf(demuxer.get()));
}

Result<Image> ShrinkImage(const Image& image, int edge_max) {
  const int edge = std::max(image.width, image.height);
  if (edge <= edge_max) return image;
  // Rounded, and at least one pixel.
  const auto scaled = [&](int length) {
    return static_cast<int>(std::max<int64_t>(1, (int64_t{length} * edge_max + edge / 2) / edge));
  };
  Picture picture;
  RETURN_IF_ERROR(picture.Import(image));
  if (WebPPictureRescale(picture.get(), scaled(image.width), scaled(image.height)) == 0) {
    return Status(Code::kResourceExhausted, "no memory for a smaller picture");
  }
  return Export(*picture.get());
}

Result<std::string> EncodeWebp(const Image& image, int quality, WebpEffort effort) {
  if (image.width < 1 || image.height < 1 || image.width > WEBP_MAX_DIMENSION ||
      image.height > WEBP_MAX_DIMENSION) {
    return InvalidArgument("a WebP file holds 1 to " + std::to_string(WEBP_MAX_DIMENSION) +
                           " pixels each way");
  }
  WebPConfig config;
  if (WebPConfigInit(&config) == 0) {
    return Status(Code::kInternal, "libwebp has an incompatible version");
  }
  config.quality = static_cast<float>(std::clamp(quality, 0, 100));
  config.method = effort == WebpEffort::kFast ? 0 : 4;
  Picture picture;
  RETURN_IF_ERROR(picture.Import(image));
  std::string encoded;
  picture.get()->writer = &AppendToString;
  picture.get()->custom_ptr = &encoded;
  if (WebPEncode(&config, picture.get()) == 0) {
    return Status(Code::kResourceExhausted,
                  "libwebp fails with error " + std::to_string(picture.get()->error_code));
  }
  return encoded;
}

}  // namespace hearth::kit
