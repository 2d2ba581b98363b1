#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hearth::sandbox {

// A story with everything that its pages show.
struct HnStoryPage {
  struct Comment {
    std::string by;  // Empty if deleted.
    std::string text;
    int64_t time = 0;
    int depth = 0;  // 0 for a reply to the story itself.
  };

  int64_t id = 0;
  int64_t time = 0;
  int64_t score = 0;
  std::string by;
  std::string title;
  std::string text;                  // For a question.
  std::string site;                  // The article's site; empty for a question.
  std::vector<std::string> article;  // Paragraphs.
  bool is_removed = false;           // The API no longer shows it; then it has no comments.
  std::vector<Comment> comments;     // In reading order: replies follow their parents.
};

// A generated world of stories and comments without storage: an item follows from the seed and its
// id, and its current state also from the time.
//
// Time is divided into slots of four minutes, and every slot has six items: a story (or a job),
// then comments. So an id determines when its item appears, ids grow with time, and an id always
// denotes the same item.
//
// The list of new stories reaches back more than a month, although there is a new story every four
// minutes: it is thinned with age, and the best stay. Each story has a fixed time for which it is
// listed: all for five hours, the best fifth for a day, the best one in 134 for 28 days. The list
// of 500 then has about 190 stories of the last day, 330 of the last week and 430 of the last 28
// days. This does not affect what an id denotes.
//
// In the API all comments reply to the story itself. Pages also show nested replies, which have no
// ids; an item's `descendants` counts both, as in the real API.
//
// As in the real API: some stories have no URL, some are null for their first two minutes, some
// vanish (null) later, are deleted or dead, and some are jobs.
//
// Immutable. All times are seconds since the epoch.
class HnItems {
 public:
  static constexpr int64_t kSlotSeconds = 240;
  static constexpr int64_t kItemsPerSlot = 6;
  static constexpr size_t kListedMax = 500;

  explicit HnItems(uint64_t seed) : seed_(seed) {}

  // The item as in the API; null if it does not exist (yet).
  nlohmann::json Item(int64_t id, int64_t now) const;
  // The pages of a story, or of a comment's story; nullopt if it does not exist (yet). Stories that
  // the API no longer shows still have pages.
  std::optional<HnStoryPage> Page(int64_t id, int64_t now) const;
  int64_t MaxItem(int64_t now) const;                  // 0 if there are none yet.
  std::vector<int64_t> NewStories(int64_t now) const;  // Newest first.
  std::vector<int64_t> TopStories(int64_t now) const;  // Best first.

 private:
  struct Story;
  struct Text;

  // Reproducible random numbers. `purpose` separates independent draws.
  uint64_t Seed(int64_t id, uint64_t purpose) const;
  int64_t TimeOf(int64_t id) const;
  // The share of stories that do better, above 0. Determines the score, and how long it is listed.
  double RarityOf(int64_t id) const;
  Story StoryOf(int64_t id) const;
  Text TextOf(int64_t id, const Story& story) const;
  bool IsListed(int64_t id, int64_t now) const;
  int64_t ScoreOf(const Story& story, int64_t now) const;
  int64_t ParentOf(int64_t comment_id) const;
  std::vector<int64_t> KidsOf(int64_t story_id, int64_t now) const;
  std::vector<int64_t> ReplyTimes(const Story& story, int64_t now) const;
  std::vector<HnStoryPage::Comment> CommentsOf(int64_t id, const Story& story, int64_t now) const;
  nlohmann::json StoryJson(int64_t id, int64_t now) const;
  nlohmann::json CommentJson(int64_t id) const;

  const uint64_t seed_;
};

}  // namespace hearth::sandbox
