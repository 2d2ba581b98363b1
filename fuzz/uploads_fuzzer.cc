// Pictures and forms with files, as any user may upload them: everything that is accepted is
// complete, within the limits and can be processed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kit/images/images.h"
#include "kit/web/multipart.h"

namespace hearth::kit {
namespace {

constexpr int kEdgeMax = 512;
constexpr int kSmallEdgeMax = 16;
constexpr size_t kPartsMax = 8;

void FuzzImage(std::string_view bytes) {
  const ImageLimits limits = {
      .pixels_max = size_t{kEdgeMax} * kEdgeMax / 2, .edge_max = kEdgeMax, .edge_wanted = 64};
  const Result<Image> image = DecodeImage(bytes, limits);
  if (!image.ok()) {
    CHECK(image.status().code() == Code::kInvalidArgument);
    return;
  }
  const size_t pixels = static_cast<size_t>(image->width) * static_cast<size_t>(image->height);
  CHECK(image->width > 0 && image->height > 0 && pixels <= limits.pixels_max);
  CHECK(image->pixels.size() == 4 * pixels);
  const Result<Image> small = ShrinkImage(*image, kSmallEdgeMax);
  CHECK(small.ok() && std::max(small->width, small->height) <= kSmallEdgeMax);
  const Result<std::string> encoded = EncodeWebp(*small, 80, WebpEffort::kFast);
  CHECK(encoded.ok() && DecodeImage(*encoded, limits).ok());
}

// The first line is the header.
void FuzzForm(std::string_view bytes) {
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view body = bytes.substr(std::min(end + 1, bytes.size()));
  const Result<std::vector<FormPart>> parts = ParseMultipart(bytes.substr(0, end), body, kPartsMax);
  if (!parts.ok()) {
    CHECK(parts.status().code() == Code::kInvalidArgument);
    return;
  }
  CHECK(parts->size() <= kPartsMax);
  for (const FormPart& part : *parts) {
    CHECK(!part.name.empty());
    CHECK(part.content.data() >= body.data() &&
          part.content.data() + part.content.size() <= body.data() + body.size());
  }
}

}  // namespace
}  // namespace hearth::kit

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("multipart/")) {
    hearth::kit::FuzzForm(bytes);
  } else {
    hearth::kit::FuzzImage(bytes);
  }
  return 0;
}
