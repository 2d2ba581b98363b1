#include "apps/hackernews/story.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace hearth::hackernews {
namespace {

constexpr size_t kIdDigits = 10;
constexpr int64_t kMicrosPerMilli = 1'000;
// 9999-12-31, the latest timestamp, and so the latest valid time.
constexpr int64_t kTimeSecondsMax = 253'402'300'799;

int64_t IntegerOr(const nlohmann::json& item, const char* name, int64_t otherwise) {
  const auto found = item.find(name);
  return found != item.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

std::string TextOr(const nlohmann::json& item, const char* name, std::string otherwise) {
  const auto found = item.find(name);
  return found != item.end() && found->is_string() ? found->get<std::string>()
                                                   : std::move(otherwise);
}

bool IsSet(const nlohmann::json& item, const char* name) {
  const auto found = item.find(name);
  return found != item.end() && found->is_boolean() && found->get<bool>();
}

// "2026-11-15T11:41:43.000Z", always with milliseconds, as in JavaScript.
std::string ToIsoText(int64_t time_ms) {
  const std::string text =
      client::Timestamp::FromMicros(time_ms * kMicrosPerMilli).ToString();  // 0 or 3 digits.
  if (text.find('.') != std::string::npos) return text;
  return text.substr(0, text.size() - 1) + ".000Z";
}

// Reads one field of a story; documents and cache entries use the same fields.
void ReadField(std::string_view name, model::ValueView value, Story* story) {
  const model::ValueType type = value.type();
  if (type == model::ValueType::kInteger) {
    if (name == "id") story->id = value.integer();
    if (name == "descendants") story->descendants = value.integer();
    if (name == "score") story->score = value.integer();
  } else if (type == model::ValueType::kString) {
    if (name == "by") story->by = value.text();
    if (name == "title") story->title = value.text();
    if (name == "url") story->url = std::string(value.text());
  }
}

client::Map SharedFields(const Story& story) {
  client::Map fields = {{"by", story.by},
                        {"descendants", story.descendants},
                        {"id", story.id},
                        {"score", story.score},
                        {"title", story.title}};
  if (story.url) fields.emplace("url", *story.url);
  return fields;
}

}  // namespace

std::string PaddedId(int64_t id) {
  std::string digits = std::to_string(id);
  if (digits.size() < kIdDigits) digits.insert(0, kIdDigits - digits.size(), '0');
  return digits;
}

Result<std::optional<StoryItem>> ParseItem(const nlohmann::json& item) {
  if (item.is_null()) return std::optional<StoryItem>();
  if (!item.is_object()) return Status(Code::kDataLoss, "an item is not a JSON object");
  if (IsSet(item, "deleted") || IsSet(item, "dead")) return std::optional<StoryItem>();
  if (TextOr(item, "type", "") != "story") return std::optional<StoryItem>();

  StoryItem result;
  result.story.id = IntegerOr(item, "id", 0);
  const int64_t time_seconds = IntegerOr(item, "time", -1);
  if (result.story.id <= 0) return Status(Code::kDataLoss, "a story has no id");
  if (time_seconds < 0 || time_seconds > kTimeSecondsMax) {
    return Status(Code::kDataLoss, "story " + std::to_string(result.story.id) + " has no time");
  }
  result.story.time_ms = time_seconds * 1'000;
  result.story.by = TextOr(item, "by", "");
  result.story.title = TextOr(item, "title", "");
  result.story.score = IntegerOr(item, "score", 0);
  result.story.descendants = IntegerOr(item, "descendants", 0);
  if (std::string url = TextOr(item, "url", ""); !url.empty()) result.story.url = std::move(url);
  const auto kids = item.find("kids");
  if (kids != item.end() && kids->is_array()) {
    for (const nlohmann::json& kid : *kids) {
      if (kid.is_number_integer()) result.kids.push_back(kid.get<int64_t>());
    }
  }
  return std::optional(std::move(result));
}

client::Map ToDocument(const StoryItem& item, client::Timestamp updated) {
  client::Map fields = SharedFields(item.story);
  fields.emplace("time", client::Timestamp::FromMicros(item.story.time_ms * kMicrosPerMilli));
  fields.emplace("updated", updated);
  client::Array kids;
  kids.reserve(item.kids.size());
  for (const int64_t kid : item.kids) kids.emplace_back(kid);
  fields.emplace("kids", std::move(kids));
  return fields;
}

Story FromDocument(model::MapView fields) {
  Story story;
  while (const auto field = fields.Next()) {
    if (field->name == "time") {
      if (field->value.type() == model::ValueType::kTimestamp) {
        story.time_ms = field->value.timestamp().micros() / kMicrosPerMilli;
      }
    } else {
      ReadField(field->name, field->value, &story);
    }
  }
  return story;
}

client::Value ToCacheEntry(const Story& story) {
  client::Map fields = SharedFields(story);
  fields.emplace("time", story.time_ms);
  return fields;
}

Story FromCacheEntry(model::MapView entry) {
  Story story;
  while (const auto field = entry.Next()) {
    if (field->name == "time") {
      if (field->value.type() == model::ValueType::kInteger) story.time_ms = field->value.integer();
    } else {
      ReadField(field->name, field->value, &story);
    }
  }
  return story;
}

nlohmann::json ToJson(const Story& story) {
  nlohmann::json json = {
      {"by", story.by},       {"descendants", story.descendants}, {"id", story.id},
      {"score", story.score}, {"time", ToIsoText(story.time_ms)}, {"title", story.title}};
  if (story.url) json["url"] = *story.url;
  return json;
}

void SortByScore(Stories& stories) {
  std::sort(stories.begin(), stories.end(), [](const Story& a, const Story& b) {
    return a.score != b.score ? a.score > b.score : a.id > b.id;
  });
}

}  // namespace hearth::hackernews
