#include "apps/sandbox/hn_items.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "apps/sandbox/hn_words.h"

namespace hearth::sandbox {
namespace {

constexpr int64_t kItemSeconds = HnItems::kSlotSeconds / HnItems::kItemsPerSlot;
constexpr int64_t kHour = 3'600;
constexpr double kListedSecondsMin = 5 * kHour;
// Comments come for so many slots after their story: eight hours.
constexpr int64_t kCommentSlotsMax = 120;
// Beyond this nothing is listed: so rare that the list is full long before.
constexpr int64_t kListedSlotsMax = 400 * 24 * kHour / HnItems::kSlotSeconds;
constexpr int64_t kScoreMax = 4'000;

enum Purpose : uint64_t { kForTime, kForRarity, kForStory, kForTitle, kForComment };

// Ids start at 1; the first of a slot is its story.
int64_t SlotOf(int64_t id) { return (id - 1) / HnItems::kItemsPerSlot; }
int64_t PositionOf(int64_t id) { return (id - 1) % HnItems::kItemsPerSlot; }
int64_t IdOf(int64_t slot, int64_t position) {
  return slot * HnItems::kItemsPerSlot + position + 1;
}

int64_t Grown(int64_t most, int64_t age, double pace) {
  return static_cast<int64_t>(static_cast<double>(most) *
                              (1 - std::exp(-static_cast<double>(age) / pace)));
}

}  // namespace

// What is drawn once for a story.
struct HnItems::Story {
  enum class Kind : uint8_t { kLink, kShow, kQuestion, kJob };
  enum class Fate : uint8_t { kLives, kLate, kVanishes, kDeleted, kDead };

  Kind kind;
  Fate fate;
  int64_t time;
  int64_t fate_at;  // When the fate comes; for kLate, when it is over.
  int64_t score_last;
  int64_t comments_last;
  double pace;  // Seconds until two thirds of the score are there.
};

uint64_t HnItems::Seed(int64_t id, uint64_t purpose) const {
  return Lot(seed_ * 0x100000001b3 + purpose).Next() ^ (static_cast<uint64_t>(id) << 8);
}

int64_t HnItems::TimeOf(int64_t id) const {
  Lot lot(Seed(id, kForTime));
  return SlotOf(id) * kSlotSeconds + PositionOf(id) * kItemSeconds +
         static_cast<int64_t>(lot.Below(kItemSeconds));
}

HnItems::Story HnItems::StoryOf(int64_t id) const {
  Lot lot(Seed(id, kForStory));
  Story story = {};
  story.time = TimeOf(id);
  const uint64_t kind = lot.Below(100);
  story.kind = kind < 2    ? Story::Kind::kJob
               : kind < 8  ? Story::Kind::kQuestion
               : kind < 20 ? Story::Kind::kShow
                           : Story::Kind::kLink;
  const uint64_t fate = lot.Below(400);
  story.fate = fate < 8    ? Story::Fate::kLate
               : fate < 12 ? Story::Fate::kVanishes
               : fate < 18 ? Story::Fate::kDeleted
               : fate < 26 ? Story::Fate::kDead
                           : Story::Fate::kLives;
  story.fate_at = story.time + (story.fate == Story::Fate::kLate ? 120 : kHour);
  // Most stories get a few points, some a hundred, one in a thousand many hundreds.
  const double tail = 2.2 * std::pow(RarityOf(id), -0.85);
  story.score_last = std::min(kScoreMax, 1 + static_cast<int64_t>(tail));
  story.comments_last =
      static_cast<int64_t>(static_cast<double>(story.score_last - 1) * (0.15 + 0.8 * lot.Share()));
  story.pace = static_cast<double>(kHour) * (2 + 6 * lot.Share());
  return story;
}

double HnItems::RarityOf(int64_t id) const { return Lot(Seed(id, kForRarity)).Share(); }

bool HnItems::IsListed(int64_t id, int64_t now) const {
  const auto age = static_cast<double>(now - TimeOf(id));
  return age >= 0 && age < kListedSecondsMin / RarityOf(id);
}

int64_t HnItems::ScoreOf(const Story& story, int64_t now) const {
  return 1 + Grown(story.score_last - 1, now - story.time, story.pace);
}

int64_t HnItems::MaxItem(int64_t now) const {
  if (now < 0) return 0;
  int64_t id = IdOf(now / kSlotSeconds, kItemsPerSlot - 1);
  while (id > 0 && TimeOf(id) > now) --id;
  return id;
}

std::vector<int64_t> HnItems::NewStories(int64_t now) const {
  std::vector<int64_t> ids;
  if (now < 0) return ids;
  const int64_t newest = now / kSlotSeconds;
  for (int64_t slot = newest; slot >= 0 && slot > newest - kListedSlotsMax; --slot) {
    const int64_t id = IdOf(slot, 0);
    if (IsListed(id, now)) ids.push_back(id);
    if (ids.size() == kListedMax) break;
  }
  return ids;
}

std::vector<int64_t> HnItems::TopStories(int64_t now) const {
  std::vector<std::pair<double, int64_t>> ranked;
  for (const int64_t id : NewStories(now)) {
    const Story story = StoryOf(id);
    const double hours = static_cast<double>(now - story.time) / kHour;
    ranked.emplace_back(static_cast<double>(ScoreOf(story, now)) / std::pow(hours + 2, 1.8), id);
  }
  std::ranges::sort(ranked, std::greater());
  std::vector<int64_t> ids;
  for (const auto& [rank, id] : ranked) ids.push_back(id);
  return ids;
}

// Young stories are talked about more.
int64_t HnItems::ParentOf(int64_t comment_id) const {
  Lot lot(Seed(comment_id, kForComment));
  const double share = lot.Share();
  const auto back = static_cast<int64_t>(share * share * static_cast<double>(kCommentSlotsMax));
  return IdOf(std::max<int64_t>(0, SlotOf(comment_id) - back), 0);
}

std::vector<int64_t> HnItems::KidsOf(int64_t story_id, int64_t now) const {
  std::vector<int64_t> kids;
  const int64_t end = IdOf(SlotOf(story_id) + kCommentSlotsMax + 1, 0);
  for (int64_t id = story_id + 1; id < end && TimeOf(id) <= now; ++id) {
    if (PositionOf(id) != 0 && ParentOf(id) == story_id) kids.push_back(id);
  }
  return kids;
}

nlohmann::json HnItems::Item(int64_t id, int64_t now) const {
  if (id < 1 || id > MaxItem(now)) return nullptr;
  return PositionOf(id) == 0 ? StoryJson(id, now) : CommentJson(id);
}

nlohmann::json HnItems::StoryJson(int64_t id, int64_t now) const {
  const Story story = StoryOf(id);
  const bool is_job = story.kind == Story::Kind::kJob;
  const bool has_fate = now >= story.fate_at;
  if (story.fate == Story::Fate::kLate && !has_fate) return nullptr;
  if (story.fate == Story::Fate::kVanishes && has_fate) return nullptr;
  nlohmann::json json = {{"id", id}, {"time", story.time}, {"type", is_job ? "job" : "story"}};
  if (story.fate == Story::Fate::kDeleted && has_fate) {
    json["deleted"] = true;
    return json;
  }
  if (story.fate == Story::Fate::kDead && has_fate) json["dead"] = true;

  Lot lot(Seed(id, kForTitle));
  json["by"] = MakeUser(lot);
  json["score"] = is_job ? 1 : ScoreOf(story, now);
  std::string title;
  switch (story.kind) {
    case Story::Kind::kLink:
      title = MakeTitle(lot);
      break;
    case Story::Kind::kShow:
      title = MakeShowTitle(lot);
      break;
    case Story::Kind::kQuestion:
      title = MakeQuestion(lot);
      json["text"] = MakeRemark(lot);
      break;
    case Story::Kind::kJob:
      title = MakeJobTitle(lot);
      break;
  }
  json["title"] = title;
  if (story.kind != Story::Kind::kQuestion) {
    json["url"] = "https://" + MakeSite(lot) + "/" + MakeSlug(title);
  }
  if (is_job) return json;
  std::vector<int64_t> kids = KidsOf(id, now);
  // Talk starts later than votes.
  const int64_t talk = Grown(story.comments_last, now - story.time, story.pace * 1.5);
  json["descendants"] = std::max(talk, static_cast<int64_t>(kids.size()));
  if (!kids.empty()) json["kids"] = std::move(kids);
  return json;
}

nlohmann::json HnItems::CommentJson(int64_t id) const {
  Lot lot(Seed(id, kForTitle));
  nlohmann::json json = {
      {"id", id}, {"time", TimeOf(id)}, {"type", "comment"}, {"parent", ParentOf(id)}};
  if (lot.OneIn(50)) {
    json["deleted"] = true;
    return json;
  }
  json["by"] = MakeUser(lot);
  json["text"] = MakeRemark(lot);
  return json;
}

}  // namespace hearth::sandbox
