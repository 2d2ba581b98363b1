#include "apps/sandbox/photos_posts.h"

#include <algorithm>
#include <string>
#include <utility>

namespace hearth::sandbox {
namespace {

enum PostPurpose : uint64_t {
  kForPostTime,
  kForPostRarity,
  kForPost,
  kForTalk,
  kForFollowing,
  kForPicture
};

constexpr uint64_t kFollowedMin = 5;
constexpr uint64_t kFollowedMax = 9;
constexpr uint64_t kCommentsMax = 4;

// A number of distinct people other than `without`, in random order.
std::vector<std::string_view> DrawPeople(Lot& lot, const Person& without, uint64_t count) {
  std::vector<std::string_view> names;
  for (const Person& person : People()) {
    if (&person != &without) names.push_back(person.username);
  }
  for (size_t i = names.size() - 1; i > 0; --i) std::swap(names[i], names[lot.Below(i + 1)]);
  names.resize(std::min<size_t>(names.size(), count));
  return names;
}

}  // namespace

Lot PhotosPosts::Draw(int64_t number, uint64_t purpose) const {
  return Lot(Lot(seed_ * 0x100000001b3 + purpose).Next() ^ (static_cast<uint64_t>(number) << 8));
}

int64_t PhotosPosts::TimeOf(int64_t number) const {
  return number * kSlotSeconds +
         static_cast<int64_t>(Draw(number, kForPostTime).Below(kSlotSeconds));
}

bool PhotosPosts::IsListed(int64_t number, int64_t now) const {
  const int64_t age = now - TimeOf(number);
  if (age < 0 || age > kListedSecondsMax) return false;
  const double rarity = Draw(number, kForPostRarity).Share();  // Above 0.
  return static_cast<double>(age) < static_cast<double>(kListedSecondsMin) / rarity;
}

PhotosPosts::Post PhotosPosts::PostOf(int64_t number) const {
  Lot lot = Draw(number, kForPost);
  const Person& author = People()[lot.Below(People().size())];
  const Scene scene = author.scenes[lot.Below(author.scenes.size())];
  const bool is_series = lot.Below(100) < 15;
  return {.author = &author,
          .scene = scene,
          .pictures = is_series ? 2 + lot.Below(kPicturesMax - 1) : 1};
}

nlohmann::json PhotosPosts::Accounts() const {
  nlohmann::json accounts = nlohmann::json::array();
  for (size_t i = 0; i < People().size(); ++i) {
    const Person& person = People()[i];
    Lot lot = Draw(static_cast<int64_t>(i), kForFollowing);
    const uint64_t count = kFollowedMin + lot.Below(kFollowedMax - kFollowedMin + 1);
    accounts.push_back({{"username", person.username},
                        {"display_name", person.display_name},
                        {"bio", person.bio},
                        {"follows", DrawPeople(lot, person, count)}});
  }
  return accounts;
}

nlohmann::json PhotosPosts::Posts(int64_t after, size_t limit, int64_t now) const {
  nlohmann::json posts = nlohmann::json::array();
  const int64_t newest = now / kSlotSeconds;
  const int64_t oldest = std::max<int64_t>(0, newest - kListedSecondsMax / kSlotSeconds - 1);
  // Not after + 1, which could overflow.
  for (int64_t number = std::max(oldest, std::min(after, newest));
       number <= newest && posts.size() < limit; ++number) {
    if (number > after && IsListed(number, now)) posts.push_back(PostJson(number));
  }
  return posts;
}

nlohmann::json PhotosPosts::PostJson(int64_t number) const {
  const Post post = PostOf(number);
  Lot lot = Draw(number, kForTalk);
  nlohmann::json pictures = nlohmann::json::array();
  for (size_t i = 0; i < post.pictures; ++i) {
    pictures.push_back("pictures/" + std::to_string(number) + "-" + std::to_string(i) + ".webp");
  }
  const std::string_view caption = MakeCaption(lot, post.scene);
  const std::vector<std::string_view> likes =
      DrawPeople(lot, *post.author, lot.Below(People().size()));
  nlohmann::json comments = nlohmann::json::array();
  std::vector<std::string_view> said;
  for (const std::string_view name : DrawPeople(lot, *post.author, lot.Below(kCommentsMax + 1))) {
    const std::string_view text = MakeComment(lot, post.scene);
    if (std::ranges::count(said, text) > 0) continue;  // No repeated comments.
    said.push_back(text);
    comments.push_back({{"username", name}, {"text", text}});
  }
  return {{"number", number},
          {"username", post.author->username},
          {"caption", caption},
          {"time", TimeOf(number)},
          {"pictures", std::move(pictures)},
          {"likes", likes},
          {"comments", std::move(comments)}};
}

std::optional<kit::Image> PhotosPosts::Picture(int64_t number, size_t index, int64_t now) const {
  if (number < 0 || number > now / kSlotSeconds || TimeOf(number) > now) return std::nullopt;
  const Post post = PostOf(number);
  if (index >= post.pictures) return std::nullopt;
  Lot lot = Draw(number, kForPicture + index);
  return PaintScene(post.scene, lot.Next());
}

}  // namespace hearth::sandbox
