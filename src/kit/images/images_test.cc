// Images made with the libraries that other programs use, and malformed files.
#include "kit/images/images.h"

#include <gif_lib.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include <array>
#include <functional>
#include <tuple>

namespace hearth::kit {
namespace {

using testing::HasSubstr;

using Color = std::array<int, 4>;
constexpr Color kRed = {255, 0, 0, 255};
constexpr Color kGreen = {0, 255, 0, 255};
constexpr Color kBlue = {0, 0, 255, 255};
constexpr Color kWhite = {255, 255, 255, 255};
constexpr Color kClear = {0, 0, 0, 0};
constexpr int kSide = 16;  // Of the four corners of test images.

Image Paint(int width, int height, const std::function<Color(int x, int y)>& color) {
  Image image{.width = width, .height = height};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const int part : color(x, y)) image.pixels.push_back(static_cast<uint8_t>(part));
    }
  }
  return image;
}

// Two by three sides, so that rotation shows: red, green, blue, white.
Image Corners() {
  return Paint(2 * kSide, 3 * kSide, [](int x, int y) {
    if (y < kSide) return x < kSide ? kRed : kGreen;
    return x < kSide ? kBlue : kWhite;
  });
}

Color At(const Image& image, int x, int y) {
  const size_t at =
      (static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x)) * 4;
  return {image.pixels[at], image.pixels[at + 1], image.pixels[at + 2], image.pixels[at + 3]};
}

// The colour despite lossy encoding: each channel is full or zero.
Color Corner(const Image& image, int x, int y) {
  Color color = At(image, x < 0 ? image.width + x : x, y < 0 ? image.height + y : y);
  for (int& part : color) part = part >= 128 ? 255 : 0;
  return color;
}
// Top left, top right, bottom left, bottom right.
std::array<Color, 4> CornersOf(const Image& image) {
  return {Corner(image, 3, 3), Corner(image, -4, 3), Corner(image, 3, -4), Corner(image, -4, -4)};
}

std::string ToJpeg(const Image& image, TJPF format = TJPF_RGBA, int flags = 0) {
  const tjhandle encoder = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  EXPECT_EQ(tjCompress2(encoder, image.pixels.data(), image.width, 0, image.height, format, &bytes,
                        &size, TJSAMP_444, 95, flags),
            0);
  std::string jpeg(reinterpret_cast<const char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(encoder);
  return jpeg;
}

// One directory with one entry: the orientation.
std::string ExifBlock(int orientation) {
  const std::string number(1, static_cast<char>(orientation));
  return std::string("MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 19) + number +
         std::string("\0\0\0\0\0\0", 6);
}

std::string WithOrientation(const std::string& jpeg, int orientation) {
  const std::string block = std::string("Exif\0\0", 6) + ExifBlock(orientation);
  const std::string length = {'\0', static_cast<char>(block.size() + 2)};
  return jpeg.substr(0, 2) + "\xff\xe1" + length + block + jpeg.substr(2);
}

std::string ToPng(const Image& image) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  EXPECT_NE(
      png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr), 0);
  bytes.resize(size);
  return bytes;
}

std::string BigEndian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
  return bytes;
}
std::string LittleEndian(uint32_t number, size_t count = 4) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
  return bytes;
}

// The header of a PNG file of that size, and its end, without pixels.
std::string PngClaiming(uint32_t width, uint32_t height) {
  const auto chunk = [](const std::string& name_and_data) {
    png_uint_32 sum = 0xffffffff;  // The checksum of the format: CRC-32.
    for (const char byte : name_and_data) {
      sum ^= static_cast<uint8_t>(byte);
      for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xedb88320u : 0u);
    }
    return BigEndian(static_cast<uint32_t>(name_and_data.size() - 4)) + name_and_data +
           BigEndian(~sum);
  };
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR" + BigEndian(width) + BigEndian(height) + std::string("\x08\x06\0\0\0", 5)) +
         chunk("IDATx") + chunk("IEND");
}

int AppendGif(GifFileType* gif, const GifByteType* bytes, int size) {
  static_cast<std::string*>(gif->UserData)
      ->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  return size;
}

struct GifFrame {
  int left;
  int top;
  int width;
  int height;
  int color;  // 0 red, 1 green, 2 blue, 3 white.
  bool interlaced = false;
};

// Frames of one colour each, except for the last line, which is white.
std::string ToGif(int width, int height, int transparent, const std::vector<GifFrame>& frames) {
  std::string bytes;
  int error = 0;
  GifFileType* const gif = EGifOpen(&bytes, &AppendGif, &error);
  const GifColorType colors[] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}};
  ColorMapObject* const map = GifMakeMapObject(4, colors);
  EGifSetGifVersion(gif, true);
  EXPECT_EQ(EGifPutScreenDesc(gif, width, height, 8, 0, map), GIF_OK);
  for (const GifFrame& frame : frames) {
    GraphicsControlBlock control = {};
    control.TransparentColor = transparent;
    std::array<GifByteType, 4> extension;
    EGifGCBToExtension(&control, extension.data());
    EXPECT_EQ(EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, 4, extension.data()), GIF_OK);
    EXPECT_EQ(EGifPutImageDesc(gif, frame.left, frame.top, frame.width, frame.height,
                               frame.interlaced, nullptr),
              GIF_OK);
    for (int line = 0; line < frame.height; ++line) {
      // With an even height the last line is also the last one in the file, interlaced or not.
      const bool is_last = line == frame.height - 1;
      std::vector<GifPixelType> pixels(static_cast<size_t>(frame.width),
                                       static_cast<GifPixelType>(is_last ? 3 : frame.color));
      EXPECT_EQ(EGifPutLine(gif, pixels.data(), frame.width), GIF_OK);
    }
  }
  GifFreeMapObject(map);
  EXPECT_EQ(EGifCloseFile(gif, &error), GIF_OK);
  return bytes;
}

std::string WebpChunk(const std::string& name, const std::string& data) {
  return name + LittleEndian(static_cast<uint32_t>(data.size())) + data +
         std::string(data.size() % 2, '\0');
}
std::string WebpFile(const std::string& chunks) {
  return "RIFF" + LittleEndian(static_cast<uint32_t>(chunks.size() + 4)) + "WEBP" + chunks;
}
// Extended as `flags` say.
std::string WebpHead(uint8_t flags, int width, int height) {
  return WebpChunk("VP8X", std::string(1, static_cast<char>(flags)) + std::string(3, '\0') +
                               LittleEndian(static_cast<uint32_t>(width - 1), 3) +
                               LittleEndian(static_cast<uint32_t>(height - 1), 3));
}
// An image without alpha as chunks, without the file's head.
std::string WebpPixels(const Image& image) { return EncodeWebp(image, 95)->substr(12); }

// One frame of an animation; offsets are even.
std::string WebpFrame(int left, int top, const Image& image) {
  std::string head;
  for (const int number : {left / 2, top / 2, image.width - 1, image.height - 1, 100}) {
    head += LittleEndian(static_cast<uint32_t>(number), 3);
  }
  return WebpChunk("ANMF", head + std::string(1, '\0') + WebpPixels(image));
}

TEST(DecodeImageTest, EveryFormatIsKnownByItsContent) {
  for (const std::string& file :
       {ToJpeg(Corners()), ToPng(Corners()), *EncodeWebp(Corners(), 95)}) {
    const Result<Image> image = DecodeImage(file, {});
    ASSERT_TRUE(image.ok()) << image.status().ToString();
    EXPECT_EQ(image->width, 2 * kSide);
    EXPECT_EQ(image->height, 3 * kSide);
    EXPECT_THAT(CornersOf(*image), testing::ElementsAre(kRed, kGreen, kBlue, kWhite));
  }
}

TEST(DecodeImageTest, WhatIsNoPictureIsRefusedWhateverItIsCalled) {
  for (const std::string& file :
       {std::string(), std::string("<!doctype html><script>alert(1)</script>"), std::string("GIF"),
        std::string("RIFF\x04\0\0\0WAVE", 12), std::string("\xff\xd8"), std::string("%PDF-1.7")}) {
    const Result<Image> image = DecodeImage(file, {});
    EXPECT_EQ(image.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(image.status().message(), HasSubstr("not a JPEG, PNG, GIF or WebP image"));
  }
}

TEST(DecodeImageTest, AFileThatIsCutOffIsRefusedWhereverItEnds) {
  testing::internal::CaptureStderr();
  const Image picture = Paint(200, 150, [](int x, int y) {
    return Color{x, y, (x * y) % 251, 255};
  });
  for (const std::string& file : {ToJpeg(picture), ToPng(picture), *EncodeWebp(picture, 95),
                                  ToGif(64, 64, NO_TRANSPARENT_COLOR, {{0, 0, 64, 64, 0}})}) {
    for (size_t part = 1; part < 10; ++part) {
      const Result<Image> image =
          DecodeImage(std::string_view(file).substr(0, file.size() * part / 10), {});
      EXPECT_EQ(image.status().code(), Code::kInvalidArgument)
          << file.substr(0, 4) << " " << part << ": " << image.status().ToString();
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(DecodeImageTest, GarbageBehindTheRightFirstBytesIsRefused) {
  testing::internal::CaptureStderr();
  for (std::string head : {std::string("\xff\xd8\xff\xe0"), std::string("\x89PNG\r\n\x1a\n"),
                           std::string("GIF89a"), std::string("RIFF\x40\x1f\0\0WEBP", 12)}) {
    for (size_t i = 0; i < 8'000; ++i) head.push_back(static_cast<char>(i * i * 31 / 7));
    EXPECT_EQ(DecodeImage(head, {}).status().code(), Code::kInvalidArgument) << head.substr(0, 4);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(DecodeImageTest, TheSizeAFileClaimsIsCheckedBeforeThereIsRoomForIt) {
  const std::vector<std::string> bombs = {
      PngClaiming(30'000, 30'000), PngClaiming(1, 20'001), PngClaiming(10'000, 4'001),
      ToGif(65'535, 65'535, NO_TRANSPARENT_COLOR, {{0, 0, 8, 8, 0}}),
      WebpFile(WebpHead(0x02, 16'000, 16'000) + WebpChunk("ANIM", std::string(6, '\0')) +
               WebpFrame(0, 0, Corners()))};
  for (const std::string& bomb : bombs) {
    const Result<Image> image = DecodeImage(bomb, {});
    EXPECT_EQ(image.status().code(), Code::kInvalidArgument) << bomb.substr(0, 4);
    EXPECT_THAT(image.status().message(), HasSubstr("the limit"));
  }
  EXPECT_THAT(DecodeImage(bombs[0], {}).status().message(),
              HasSubstr("30000 x 30000 pixels; the limit for an edge is 20000"));
  EXPECT_THAT(DecodeImage(bombs[2], {}).status().message(),
              HasSubstr("10000 x 4001 pixels; the limit is 40000000 in all"));
}

TEST(DecodeImageTest, AFrameBeyondItsCanvasIsNoWayAroundTheLimits) {
  std::string gif = ToGif(8, 8, NO_TRANSPARENT_COLOR, {{0, 0, 8, 8, 0}});
  const size_t frame = gif.find(',');  // Then left, top, width and height.
  ASSERT_NE(frame, std::string::npos);
  gif.replace(frame + 5, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(DecodeImage(gif, {}).status().message(), HasSubstr("65535 x 65535"));
}

TEST(DecodeImageTest, LimitsHoldToThePixel) {
  const std::string file = ToPng(Corners());
  const ImageLimits enough = {.pixels_max = 2 * 3 * kSide * kSide, .edge_max = 3 * kSide};
  EXPECT_TRUE(DecodeImage(file, enough).ok());
  ImageLimits fewer = enough;
  fewer.pixels_max -= 1;
  EXPECT_EQ(DecodeImage(file, fewer).status().code(), Code::kInvalidArgument);
  ImageLimits shorter = enough;
  shorter.edge_max -= 1;
  EXPECT_EQ(DecodeImage(file, shorter).status().code(), Code::kInvalidArgument);
}

// EXIF's number, and where the colours of Corners() appear.
using Turn = std::tuple<int, std::array<Color, 4>>;
class OrientationTest : public testing::TestWithParam<Turn> {};

TEST_P(OrientationTest, PicturesAreSeenAsTheCameraSawThem) {
  const auto& [orientation, corners] = GetParam();
  const std::string exif = ExifBlock(orientation);
  const std::string webp = WebpFile(WebpHead(0x08, 2 * kSide, 3 * kSide) + WebpPixels(Corners()) +
                                    WebpChunk("EXIF", exif));
  for (const std::string& file : {WithOrientation(ToJpeg(Corners()), orientation), webp}) {
    const Result<Image> image = DecodeImage(file, {});
    ASSERT_TRUE(image.ok()) << image.status().ToString();
    EXPECT_EQ(image->width, orientation >= 5 && orientation <= 8 ? 3 * kSide : 2 * kSide);
    EXPECT_EQ(CornersOf(*image), corners) << file.substr(0, 4);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OrientationTest,
    testing::Values(Turn{1, {kRed, kGreen, kBlue, kWhite}}, Turn{2, {kGreen, kRed, kWhite, kBlue}},
                    Turn{3, {kWhite, kBlue, kGreen, kRed}}, Turn{4, {kBlue, kWhite, kRed, kGreen}},
                    Turn{5, {kRed, kBlue, kGreen, kWhite}}, Turn{6, {kBlue, kRed, kWhite, kGreen}},
                    Turn{7, {kWhite, kGreen, kBlue, kRed}}, Turn{8, {kGreen, kWhite, kRed, kBlue}},
                    // No such orientation.
                    Turn{0, {kRed, kGreen, kBlue, kWhite}}, Turn{9, {kRed, kGreen, kBlue, kWhite}}),
    [](const auto& turn) { return std::to_string(std::get<0>(turn.param)); });

TEST(DecodeImageTest, ALargeJpegIsDecodedSmallerButNotTooSmall) {
  const std::string file =
      ToJpeg(Paint(800, 400, [](int x, int) { return x < 400 ? kRed : kBlue; }));
  const Result<Image> image = DecodeImage(file, {.edge_wanted = 100});
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->width, 100);
  EXPECT_EQ(image->height, 50);
  EXPECT_THAT(CornersOf(*image), testing::ElementsAre(kRed, kBlue, kRed, kBlue));
  EXPECT_GE(DecodeImage(file, {.edge_wanted = 101})->width, 101);
  EXPECT_EQ(DecodeImage(file, {.edge_wanted = 801})->width, 800);
}

TEST(DecodeImageTest, AJpegOfFourInksIsSeenAsItIsPrinted) {
  // Inverted cyan, magenta, yellow and black: red, then black.
  const Image inks = Paint(32, 32, [](int x, int) {
    return x < 16 ? Color{255, 0, 0, 255} : Color{255, 255, 255, 0};
  });
  const Result<Image> image = DecodeImage(ToJpeg(inks, TJPF_CMYK), {});
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  EXPECT_EQ(Corner(*image, 3, 3), kRed);
  EXPECT_EQ(Corner(*image, -4, 3), (Color{0, 0, 0, 255}));
}

TEST(DecodeImageTest, TransparencyOfPngAndWebpIsKept) {
  const Image half = Paint(32, 32, [](int x, int) { return x < 16 ? kRed : kClear; });
  for (const std::string& file : {ToPng(half), *EncodeWebp(half, 95)}) {
    const Result<Image> image = DecodeImage(file, {});
    ASSERT_TRUE(image.ok()) << image.status().ToString();
    EXPECT_EQ(Corner(*image, 3, 3), kRed);
    EXPECT_EQ(Corner(*image, -4, 3)[3], 0);
  }
}

TEST(DecodeImageTest, AMovingGifIsItsFirstFrameOnItsCanvas) {
  const std::string file =
      ToGif(32, 24, 1, {{8, 4, 16, 8, 2}, {0, 0, 32, 24, 0}});  // The second is all red.
  const Result<Image> image = DecodeImage(file, {});
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  EXPECT_EQ(image->width, 32);
  EXPECT_EQ(image->height, 24);
  EXPECT_EQ(At(*image, 0, 0), kClear);
  EXPECT_EQ(At(*image, 8, 4), kBlue);
  EXPECT_EQ(At(*image, 23, 10), kBlue);
  EXPECT_EQ(At(*image, 23, 11), kWhite);  // The frame's last line.
  EXPECT_EQ(At(*image, 24, 11), kClear);
}

TEST(DecodeImageTest, TheTransparentColourOfAGifIsClear) {
  const Result<Image> image = DecodeImage(ToGif(8, 8, 1, {{0, 0, 8, 8, 1}}), {});
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  EXPECT_EQ(At(*image, 0, 0), kClear);
  EXPECT_EQ(At(*image, 0, 7), kWhite);
}

TEST(DecodeImageTest, AnInterlacedGifHasItsLinesInOrder) {
  const Result<Image> image =
      DecodeImage(ToGif(8, 8, NO_TRANSPARENT_COLOR, {{0, 0, 8, 8, 2, true}}), {});
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  EXPECT_EQ(At(*image, 0, 6), kBlue);
  EXPECT_EQ(At(*image, 0, 7), kWhite);
}

TEST(DecodeImageTest, AFrameThatSticksOutIsCutOff) {
  const Result<Image> image =
      DecodeImage(ToGif(8, 8, NO_TRANSPARENT_COLOR, {{4, 4, 16, 16, 2}}), {});
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  EXPECT_EQ(image->width, 8);
  EXPECT_EQ(At(*image, 3, 7), kClear);
  EXPECT_EQ(At(*image, 7, 7), kBlue);
}

TEST(DecodeImageTest, AMovingWebpIsItsFirstFrameOnItsCanvas) {
  const Image blue = Paint(16, 16, [](int, int) { return kBlue; });
  const Image red = Paint(40, 40, [](int, int) { return kRed; });
  const std::string file =
      WebpFile(WebpHead(0x02, 40, 40) + WebpChunk("ANIM", std::string(6, '\0')) +
               WebpFrame(8, 10, blue) + WebpFrame(0, 0, red));
  const Result<Image> image = DecodeImage(file, {});
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  EXPECT_EQ(image->width, 40);
  EXPECT_EQ(At(*image, 7, 10), kClear);
  EXPECT_EQ(Corner(*image, 8, 10), kBlue);
  EXPECT_EQ(Corner(*image, 23, 25), kBlue);
  EXPECT_EQ(At(*image, 24, 25), kClear);
}

TEST(ShrinkImageTest, TheLongerEdgeFitsAndTheShapeStays) {
  const Image image = Paint(300, 100, [](int x, int) { return x < 150 ? kRed : kBlue; });
  const Result<Image> smaller = ShrinkImage(image, 60);
  ASSERT_TRUE(smaller.ok());
  EXPECT_EQ(smaller->width, 60);
  EXPECT_EQ(smaller->height, 20);
  EXPECT_THAT(CornersOf(*smaller), testing::ElementsAre(kRed, kBlue, kRed, kBlue));
  const Result<Image> line = ShrinkImage(Paint(1, 500, [](int, int) { return kRed; }), 20);
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->width, 1);
  EXPECT_EQ(line->height, 20);
}

TEST(ShrinkImageTest, NothingIsMadeLarger) {
  const Image image = Corners();
  const Result<Image> same = ShrinkImage(image, 3 * kSide);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->width, image.width);
  EXPECT_EQ(same->pixels, image.pixels);
}

TEST(ShrinkImageTest, TheColourOfWhatIsClearDoesNotBleed) {
  const Image image = Paint(64, 64, [](int x, int) {
    return x % 2 == 0 ? kRed : Color{0, 255, 0, 0};
  });
  const Result<Image> smaller = ShrinkImage(image, 32);
  ASSERT_TRUE(smaller.ok());
  const Color color = At(*smaller, 16, 16);
  EXPECT_GT(color[0], 240);
  EXPECT_LT(color[1], 15);
  EXPECT_NEAR(color[3], 128, 4);
}

TEST(EncodeWebpTest, ASizeThatTheFormatLacksIsRefused) {
  EXPECT_EQ(EncodeWebp({}, 80).status().code(), Code::kInvalidArgument);
  const Image wide = Paint(16'384, 1, [](int, int) { return kRed; });
  EXPECT_EQ(EncodeWebp(wide, 80).status().code(), Code::kInvalidArgument);
}

TEST(EncodeWebpTest, BothEffortsKeepThePicture) {
  for (const WebpEffort effort : {WebpEffort::kFast, WebpEffort::kSmall}) {
    const Result<std::string> file = EncodeWebp(Corners(), 80, effort);
    ASSERT_TRUE(file.ok());
    EXPECT_THAT(CornersOf(*DecodeImage(*file, {})),
                testing::ElementsAre(kRed, kGreen, kBlue, kWhite));
  }
}

TEST(ImageMemoryTest, IsKnownFromTheHeader) {
  const Image image = Paint(800, 600, [](int, int) { return kRed; });
  constexpr size_t kCopyBytes = 800 * 600 * 4;
  EXPECT_EQ(*ImageMemoryBytes(ToPng(image), {}), 2 * kCopyBytes);
  EXPECT_EQ(*ImageMemoryBytes(*EncodeWebp(image, 90), {}), 2 * kCopyBytes);
  EXPECT_EQ(*ImageMemoryBytes(ToJpeg(image), {}), 2 * kCopyBytes);
  // The pixels are not needed to know it.
  EXPECT_EQ(*ImageMemoryBytes(PngClaiming(5'000, 4'000), {}), 2u * 5'000 * 4'000 * 4);
}

TEST(ImageMemoryTest, OfJpegDependsOnTheWantedSizeAndTheScans) {
  const Image image = Paint(800, 600, [](int, int) { return kRed; });
  const size_t whole = *ImageMemoryBytes(ToJpeg(image), {});
  const size_t half = *ImageMemoryBytes(ToJpeg(image), {.edge_wanted = 400});
  EXPECT_EQ(half, whole / 4);
  // A progressive file is scaled down only after all of it has been read.
  const std::string progressive = ToJpeg(image, TJPF_RGBA, TJFLAG_PROGRESSIVE);
  EXPECT_GE(*ImageMemoryBytes(progressive, {.edge_wanted = 400}), half + 800u * 600 * 3 * 2);
}

TEST(ImageMemoryTest, FailsAsDecodingDoes) {
  EXPECT_THAT(ImageMemoryBytes("<html>", {}).status().message(), HasSubstr("not a JPEG"));
  EXPECT_EQ(ImageMemoryBytes(PngClaiming(30'000, 10), {}).status().message(),
            DecodeImage(PngClaiming(30'000, 10), {}).status().message());
  EXPECT_EQ(ImageMemoryBytes("\xff\xd8\xff", {}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace hearth::kit
