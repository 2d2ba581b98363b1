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
    std::string by;  // Empty if it was deleted.
    std::string text;
    int64_t time = 0;
    int depth = 0;  // 0 for an answer to the story itself.
  };

  int64_t id = 0;
  int64_t time = 0;
  int64_t score = 0;
  std::string by;
  std::string title;
  std::string text;                  // Of a question.
  std::string site;                  // Where the article is; empty for a question.
  std::vector<std::string> article;  // Paragraphs.
  bool is_removed = false;           // The API no longer tells it; then it has no comments.
  std::vector<Comment> comments;     // In reading order: replies follow what they answer.
};

// A world of stories and comments that nobody stores: what an id denotes follows from the seed and
// the id, and how it looks now also from the time.
//
// Time is cut into slots of four minutes, and every slot brings six items: a story (or a job), then
// comments. So an id says when its item appears, ids grow with time, and an id denotes the same
// item for ever.
//
// The list of new stories reaches back more than a month, although a new one comes every four
// minutes: it is thinned with age, and the best stay. Each story has a time, fixed from the start,
// for which it is listed: all for five hours, the best fifth for a day, the best one in 134 for 28
// days. That makes about 190 of a day, 330 of a week and 430 of 28 days among the 500, and changes
// nothing about what an id denotes.
//
// The API's comments all answer the story itself. Pages also show replies, which have no ids; an
// item's `descendants` counts both, as in the real one.
//
// As in the real one: some stories have no URL, some are null for their first two minutes, some
// vanish (null) later, are deleted or dead, and some are jobs.
//
// Immutable. All times are seconds since the epoch.
class HnItems {
 public:
  static constexpr int64_t kSlotSeconds = 240;
  static constexpr int64_t kItemsPerSlot = 6;
  static constexpr size_t kListedMax = 500;

  explicit HnItems(uint64_t seed) : seed_(seed) {}

  // The item as the API shows it; null for what does not exist (yet).
  nlohmann::json Item(int64_t id, int64_t now) const;
  // The pages of a story, or of the story that a comment belongs to; nullopt for what does not
  // exist (yet). Stories that the API no longer tells still have pages.
  std::optional<HnStoryPage> Page(int64_t id, int64_t now) const;
  int64_t MaxItem(int64_t now) const;                  // 0 before there is any.
  std::vector<int64_t> NewStories(int64_t now) const;  // Newest first.
  std::vector<int64_t> TopStories(int64_t now) const;  // Best first.

 private:
  struct Story;
  struct Text;

  // Draws that are the same whenever they are asked for. `purpose` keeps them apart.
  uint64_t Seed(int64_t id, uint64_t purpose) const;
  int64_t TimeOf(int64_t id) const;
  // A share of all stories, above 0: so few do better. Decides the score, and how long it is
  // listed.
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
