#include "apps/sandbox/photos.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace hearth::sandbox {
namespace {

constexpr int kQuality = 80;

// nullopt unless all characters are digits.
std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end || number < 0) return std::nullopt;
  return number;
}

struct PictureName {
  int64_t number;
  size_t index;
};
// "7458333-0.webp"
std::optional<PictureName> ParsePictureFile(std::string_view file) {
  static constexpr std::string_view kEnding = ".webp";
  if (!file.ends_with(kEnding)) return std::nullopt;
  file.remove_suffix(kEnding.size());
  const size_t dash = file.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> number = ParseNumber(file.substr(0, dash));
  const std::optional<int64_t> index = ParseNumber(file.substr(dash + 1));
  if (!number || !index) return std::nullopt;
  return PictureName{.number = *number, .index = static_cast<size_t>(*index)};
}

kit::Response PictureResponse(std::string bytes) {
  return {.content_type = "image/webp", .body = std::move(bytes)};
}

}  // namespace

void PhotosStandIn::AddRoutes(kit::Routes& routes) {
  routes.Add("GET", "/accounts.json",
             [this](const kit::Request&) { return kit::Response::Json(posts_.Accounts()); });
  routes.Add("GET", "/posts.json",
             [this](const kit::Request& request) { return ListPosts(request); });
  routes.Add("GET", "/pictures/:file", [this](const kit::Request& request) {
    return SendPicture(request.Parameter("file"));
  });
}

kit::Response PhotosStandIn::ListPosts(const kit::Request& request) const {
  const std::optional<int64_t> after = ParseNumber(request.Query("after").value_or("0"));
  const std::optional<int64_t> limit =
      ParseNumber(request.Query("limit").value_or(std::to_string(kPostsDefault)));
  if (!after || !limit) {
    return kit::Response::Json({{"error", "after and limit are numbers"}}, 400);
  }
  const size_t most = std::min(static_cast<size_t>(*limit), kPostsMax);
  return kit::Response::Json(posts_.Posts(*after, most, Now()));
}

kit::Response PhotosStandIn::SendPicture(const std::string& file) {
  const auto cached = std::ranges::find(cached_, file, [](const auto& pair) { return pair.first; });
  if (cached != cached_.end()) return PictureResponse(cached->second);
  const std::optional<PictureName> name = ParsePictureFile(file);
  std::optional<kit::Image> image;
  if (name) image = posts_.Picture(name->number, name->index, Now());
  if (!image) return {.status = 404, .body = "there is no such picture\n"};
  Result<std::string> encoded = kit::EncodeWebp(*image, kQuality, kit::WebpEffort::kFast);
  if (!encoded.ok()) return {.status = 500, .body = encoded.status().message() + "\n"};
  if (cached_.size() == kCachedPicturesMax) cached_.pop_front();
  cached_.emplace_back(file, *encoded);
  return PictureResponse(*std::move(encoded));
}

}  // namespace hearth::sandbox
