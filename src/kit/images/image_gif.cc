#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "kit/images/image_formats.h"

namespace hearth::kit {
namespace {

struct Source {
  std::string_view rest;
};

int ReadSource(GifFileType* gif, GifByteType* to, int size) {
  std::string_view& rest = static_cast<Source*>(gif->UserData)->rest;
  const size_t count = std::min(rest.size(), static_cast<size_t>(size));
  std::memcpy(to, rest.data(), count);
  rest.remove_prefix(count);
  return static_cast<int>(count);
}

struct GifDeleter {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, GifDeleter>;

Status Broken(int error) {
  const char* const reason = GifErrorString(error);
  return InvalidArgument("the GIF file is broken: " +
                         std::string(reason == nullptr ? "it ends too early" : reason));
}

// Skips an extension, but records which colour is transparent.
Status ReadExtension(GifFileType* gif, int& transparent) {
  int kind = 0;
  GifByteType* block = nullptr;
  if (DGifGetExtension(gif, &kind, &block) == GIF_ERROR) return Broken(gif->Error);
  while (block != nullptr) {
    GraphicsControlBlock control;
    // A block begins with its length.
    if (kind == GRAPHICS_EXT_FUNC_CODE &&
        DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
      transparent = control.TransparentColor;
    }
    if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) return Broken(gif->Error);
  }
  return {};
}

// The lines of a frame in file order.
std::vector<int> LineOrder(const GifImageDesc& frame) {
  std::vector<int> lines;
  lines.reserve(static_cast<size_t>(frame.Height));
  struct Pass {
    int first;
    int step;
  };
  static constexpr Pass kInterlaced[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  if (!frame.Interlace) {
    for (int line = 0; line < frame.Height; ++line) lines.push_back(line);
    return lines;
  }
  for (const Pass& pass : kInterlaced) {
    for (int line = pass.first; line < frame.Height; line += pass.step) lines.push_back(line);
  }
  return lines;
}

void PaintLine(const std::vector<GifPixelType>& line, const ColorMapObject& colors, int transparent,
               int left, int y, Image& canvas) {
  if (y >= canvas.height) return;
  for (size_t i = 0; i < line.size(); ++i) {
    const int x = left + static_cast<int>(i);
    const int color = line[i];
    if (x >= canvas.width) return;
    if (color == transparent || color >= colors.ColorCount) continue;
    const GifColorType& from = colors.Colors[color];
    uint8_t* const to =
        canvas.pixels.data() + static_cast<size_t>(y) * RowBytes(canvas.width) + RowBytes(x);
    to[0] = from.Red;
    to[1] = from.Green;
    to[2] = from.Blue;
    to[3] = 255;
  }
}

// The canvas of the frame whose description was just read.
Result<ImageSize> CanvasOf(const GifFileType& gif, const ImageLimits& limits) {
  const GifImageDesc& frame = gif.Image;
  RETURN_IF_ERROR(CheckImageSize(frame.Width, frame.Height, limits));
  // Some files define the canvas size only in the frame.
  const bool has_canvas = gif.SWidth > 0 && gif.SHeight > 0;
  const ImageSize size = {.width = has_canvas ? gif.SWidth : frame.Left + frame.Width,
                          .height = has_canvas ? gif.SHeight : frame.Top + frame.Height};
  RETURN_IF_ERROR(CheckImageSize(size.width, size.height, limits));
  return size;
}

// That frame on its canvas. Parts outside of it are cut off.
Result<Image> ReadFrame(GifFileType* gif, int transparent, const ImageLimits& limits) {
  const GifImageDesc& frame = gif->Image;
  ASSIGN_OR_RETURN(const ImageSize size, CanvasOf(*gif, limits));
  const ColorMapObject* const colors = frame.ColorMap != nullptr ? frame.ColorMap : gif->SColorMap;
  if (colors == nullptr) return InvalidArgument("the GIF file is broken: it has no colours");

  Image canvas = MakeImage(size.width, size.height);
  std::vector<GifPixelType> line(static_cast<size_t>(frame.Width));
  for (const int y : LineOrder(frame)) {
    if (DGifGetLine(gif, line.data(), frame.Width) == GIF_ERROR) return Broken(gif->Error);
    PaintLine(line, *colors, transparent, frame.Left, frame.Top + y, canvas);
  }
  return canvas;
}

// Reads up to the description of the first frame.
Status FindFrame(GifFileType* gif, int& transparent) {
  while (true) {
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(gif, &record) == GIF_ERROR) return Broken(gif->Error);
    if (record == TERMINATE_RECORD_TYPE) {
      return InvalidArgument("the GIF file is broken: it holds no picture");
    }
    if (record == EXTENSION_RECORD_TYPE) {
      RETURN_IF_ERROR(ReadExtension(gif, transparent));
    } else if (record == IMAGE_DESC_RECORD_TYPE) {
      return DGifGetImageDesc(gif) == GIF_ERROR ? Broken(gif->Error) : Status();
    }
  }
}

// A file, read up to the description of its first frame.
struct OpenGif {
  Source source;  // Borrowed by `gif`.
  Gif gif;
  int transparent = NO_TRANSPARENT_COLOR;

  Status Open(std::string_view bytes) {
    source.rest = bytes;
    int error = 0;
    gif.reset(DGifOpen(&source, &ReadSource, &error));
    return gif ? FindFrame(gif.get(), transparent) : Broken(error);
  }
};

}  // namespace

Result<ImageSize> MeasureGif(std::string_view bytes, const ImageLimits& limits) {
  OpenGif file;
  RETURN_IF_ERROR(file.Open(bytes));
  return CanvasOf(*file.gif, limits);
}

Result<Image> DecodeGif(std::string_view bytes, const ImageLimits& limits) {
  OpenGif file;
  RETURN_IF_ERROR(file.Open(bytes));
  return ReadFrame(file.gif.get(), file.transparent, limits);
}

}  // namespace hearth::kit
