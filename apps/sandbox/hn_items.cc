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
// A story gets comments for this many slots: eight hours.
constexpr int64_t kCommentSlotsMax = 120;
// Bounds the age of listed stories; the list is full long before.
constexpr int64_t kListedSlotsMax = 400 * 24 * kHour / HnItems::kSlotSeconds;
constexpr int64_t kScoreMax = 4'000;

// Deeper replies would be too narrow on a phone.
constexpr int kReplyDepthMax = 5;

enum ItemPurpose : uint64_t {
  kForTime,
  kForRarity,
  kForStory,
  kForTitle,
  kForComment,
  kForArticle,
  kForReplies,
  kForThread
};

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

// The random properties of a story.
struct HnItems::Story {
  enum class Kind : uint8_t { kLink, kShow, kQuestion, kJob };
  enum class Fate : uint8_t { kLives, kLate, kVanishes, kDeleted, kDead };

  Kind kind;
  Fate fate;
  int64_t time;
  int64_t fate_at;  // When the fate takes effect; for kLate, when it ends.
  int64_t score_last;
  int64_t replies_last;
  double pace;  // Seconds until two thirds of the score are reached.

  // Whether the API no longer shows it, or only a stub.
  bool IsRemoved(int64_t now) const {
    return (fate == Fate::kVanishes || fate == Fate::kDeleted) && now >= fate_at;
  }
};

// The texts of a story.
struct HnItems::Text {
  std::string by;
  Headline headline;
  std::string question;  // The body of a question.
  std::string site;      // Empty for a question.
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
  story.replies_last =
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

// Younger stories get more comments.
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

// The times of replies so far. Comments start later than votes.
std::vector<int64_t> HnItems::ReplyTimes(const Story& story, int64_t now) const {
  std::vector<int64_t> times;
  if (story.kind == Story::Kind::kJob) return times;
  const double all = static_cast<double>(story.replies_last) + 1;
  for (int64_t i = 1; i <= story.replies_last; ++i) {
    const double age = -1.5 * story.pace * std::log(1 - static_cast<double>(i) / all);
    const int64_t time = story.time + static_cast<int64_t>(std::ceil(age));
    if (time > now) break;
    times.push_back(time);
  }
  return times;
}

HnItems::Text HnItems::TextOf(int64_t id, const Story& story) const {
  Lot lot(Seed(id, kForTitle));
  Text text;
  text.by = MakeUser(lot);
  switch (story.kind) {
    case Story::Kind::kLink:
      text.headline = MakeTitle(lot);
      break;
    case Story::Kind::kShow:
      text.headline = MakeShowTitle(lot);
      break;
    case Story::Kind::kQuestion:
      text.headline = MakeQuestion(lot);
      text.question = MakeQuestionText(lot, text.headline.subject);
      return text;
    case Story::Kind::kJob:
      text.headline = MakeJobTitle(lot);
      break;
  }
  text.site = MakeSite(lot);
  return text;
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

  const Text text = TextOf(id, story);
  json["by"] = text.by;
  json["score"] = is_job ? 1 : ScoreOf(story, now);
  json["title"] = text.headline.title;
  if (!text.question.empty()) json["text"] = text.question;
  if (!text.site.empty()) {
    json["url"] = "https://" + text.site + "/" + MakeSlug(text.headline.title);
  }
  if (is_job) return json;
  std::vector<int64_t> kids = KidsOf(id, now);
  json["descendants"] = kids.size() + ReplyTimes(story, now).size();
  if (!kids.empty()) json["kids"] = std::move(kids);
  return json;
}

std::optional<HnStoryPage> HnItems::Page(int64_t id, int64_t now) const {
  if (id < 1 || id > MaxItem(now)) return std::nullopt;
  if (PositionOf(id) != 0) id = ParentOf(id);
  const Story story = StoryOf(id);
  Text text = TextOf(id, story);
  HnStoryPage page = {.id = id,
                      .time = story.time,
                      .score = ScoreOf(story, now),
                      .by = std::move(text.by),
                      .title = std::move(text.headline.title),
                      .text = std::move(text.question),
                      .site = std::move(text.site),
                      .article = {},
                      .is_removed = story.IsRemoved(now),
                      .comments = {}};
  if (!page.site.empty()) {
    Lot lot(Seed(id, kForArticle));
    page.article = MakeArticle(lot, text.headline.subject);
  }
  if (!page.is_removed) page.comments = CommentsOf(id, story, now);
  return page;
}

// A reply answers an earlier comment, so earlier comments never change.
std::vector<HnStoryPage::Comment> HnItems::CommentsOf(int64_t id, const Story& story,
                                                      int64_t now) const {
  struct Node {
    HnStoryPage::Comment comment;
    bool is_reply = false;
    std::vector<size_t> answers = {};
  };
  if (story.kind == Story::Kind::kJob) return {};
  std::vector<Node> nodes;
  for (const int64_t kid : KidsOf(id, now)) {
    const nlohmann::json json = CommentJson(kid);
    nodes.push_back(
        {{.by = json.value("by", ""), .text = json.value("text", ""), .time = TimeOf(kid)}});
  }
  Lot lot(Seed(id, kForReplies));
  for (const int64_t time : ReplyTimes(story, now)) {
    std::string by = MakeUser(lot);
    nodes.push_back({{.by = std::move(by), .text = MakeRemark(lot), .time = time}, true});
  }
  std::ranges::stable_sort(nodes, {}, [](const Node& node) { return node.comment.time; });

  std::vector<size_t> roots;
  for (size_t i = 0; i < nodes.size(); ++i) {
    Lot draw(Seed(id, kForThread) + i);
    const bool answers_story = !nodes[i].is_reply || i == 0 || draw.OneIn(3);
    const size_t parent = answers_story ? 0 : draw.Below(i);
    if (answers_story || nodes[parent].comment.depth == kReplyDepthMax) {
      roots.push_back(i);
      continue;
    }
    nodes[i].comment.depth = nodes[parent].comment.depth + 1;
    nodes[parent].answers.push_back(i);
  }
  std::vector<HnStoryPage::Comment> comments;
  std::vector<size_t> pending(roots.rbegin(), roots.rend());
  while (!pending.empty()) {
    Node& node = nodes[pending.back()];
    pending.pop_back();
    pending.insert(pending.end(), node.answers.rbegin(), node.answers.rend());
    comments.push_back(std::move(node.comment));
  }
  return comments;
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
