#include "apps/feed/redis/redis_feed_queue.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <map>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

const std::string kStream = "stream:feed";
const std::string kDeadStream = "stream:feed:dead";
const std::string kGroup = "feed_workers";
// One name for all consumers: any consumer may claim idle entries, and names of ended processes
// would stay in Redis for ever.
const std::string kConsumer = "worker";

// How often Take checks whether it was stopped, and for abandoned entries.
constexpr std::chrono::milliseconds kWaitMax{250};

// Both or neither; otherwise an entry could be left that no consumer takes.
const RedisScript kDeleteEntry{R"lua(
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
return 1
)lua"};

std::vector<std::string> ToFields(const FeedEvent& event) {
  return {"kind",       std::string(ToString(event.kind)),
          "author_id",  ToText(event.author_id),
          "post_id",    ToText(event.post.id),
          "created_at", std::to_string(event.post.created_seconds),
          "user_id",    ToText(event.user_id),
          "version",    std::to_string(event.following_version)};
}

Result<FeedEvent> ParseFields(const std::vector<std::string>& fields) {
  std::map<std::string, std::string> by_name;
  for (size_t i = 0; i + 1 < fields.size(); i += 2) by_name[fields[i]] = fields[i + 1];
  const auto number = [&](const std::string& name) {
    RedisReply text;
    text.text = by_name[name];
    return text.ToInteger();
  };
  FeedEvent event{};
  ASSIGN_OR_RETURN(event.kind, ParseKind(by_name["kind"]));
  ASSIGN_OR_RETURN(const int64_t author_id, number("author_id"));
  ASSIGN_OR_RETURN(const int64_t post_id, number("post_id"));
  ASSIGN_OR_RETURN(event.post.created_seconds, number("created_at"));
  ASSIGN_OR_RETURN(const int64_t user_id, number("user_id"));
  ASSIGN_OR_RETURN(event.following_version, number("version"));
  event.author_id = UserId{author_id};
  event.post.id = PostId{post_id};
  event.user_id = UserId{user_id};
  return event;
}

std::vector<std::string> Texts(const RedisReply& array) {
  std::vector<std::string> texts;
  for (const RedisReply& element : array.elements) texts.push_back(element.text);
  return texts;
}

RedisCommand OnStream(RedisArguments arguments) {
  return {.arguments = std::move(arguments), .key = kStream};
}

}  // namespace

Status RedisFeedQueue::Publish(const FeedEvent& event) {
  RedisArguments arguments = {"XADD", kStream, "MAXLEN", "~", std::to_string(kEventsMax), "*"};
  std::ranges::move(ToFields(event), std::back_inserter(arguments));
  return client_.Run(OnStream(std::move(arguments))).status();
}

Result<std::vector<FeedQueue::Delivery>> RedisFeedQueue::Take(std::chrono::milliseconds patience) {
  while (!is_stopped_) {
    ASSIGN_OR_RETURN(std::vector<Entry> entries, Reclaim());
    ASSIGN_OR_RETURN(std::vector<Delivery> deliveries, Accept(entries));
    const auto wait = deliveries.empty() ? std::min(patience, kWaitMax) : kWaitMax * 0;
    if (deliveries.size() < kBatchMax) {
      Result<std::vector<Entry>> fresh = ReadNew(kBatchMax - deliveries.size(), wait);
      // Entries that were taken already are delivered, whatever the outcome of the rest.
      if (!fresh.ok() && deliveries.empty()) return fresh.status();
      if (fresh.ok()) {
        ASSIGN_OR_RETURN(std::vector<Delivery> more, Accept(*fresh));
        std::ranges::move(more, std::back_inserter(deliveries));
      }
    }
    patience -= wait;
    if (!deliveries.empty() || patience.count() <= 0) return deliveries;
  }
  return std::vector<Delivery>();
}

Result<RedisReply> RedisFeedQueue::RunWithGroup(const RedisCommand& command,
                                                std::chrono::milliseconds patience) {
  Result<RedisReply> reply = client_.Run(command, patience);
  if (reply.status().code() != Code::kFailedPrecondition) return reply;
  // From the first entry on, to include events published before the group existed.
  const Status made =
      client_.Run(OnStream({"XGROUP", "CREATE", kStream, kGroup, "0", "MKSTREAM"})).status();
  if (!made.ok() && made.code() != Code::kAlreadyExists) return made;
  reply = client_.Run(command, patience);
  if (reply.status().code() == Code::kFailedPrecondition) {
    return Status(Code::kUnavailable, reply.status().message());
  }
  return reply;
}

Result<std::vector<RedisFeedQueue::Entry>> RedisFeedQueue::Reclaim() {
  std::string from;
  {
    MutexLock lock(mutex_);
    from = reclaim_from_;
  }
  ASSIGN_OR_RETURN(const RedisReply reply,
                   RunWithGroup(OnStream({"XAUTOCLAIM", kStream, kGroup, kConsumer,
                                          std::to_string(idle_max_.count()), from, "COUNT",
                                          std::to_string(kBatchMax)})));
  if (reply.elements.size() < 2)
    return Status(Code::kUnavailable, "Redis: empty reply to XAUTOCLAIM");
  {
    MutexLock lock(mutex_);
    reclaim_from_ = reply.elements[0].text;
  }
  std::vector<Entry> entries;
  for (const RedisReply& element : reply.elements[1].elements) {
    if (element.elements.size() != 2) continue;  // Trimmed while it was pending.
    entries.push_back({element.elements[0].text, Texts(element.elements[1])});
  }
  RETURN_IF_ERROR(CountTries(&entries));
  return entries;
}

Status RedisFeedQueue::CountTries(std::vector<Entry>* entries) {
  std::vector<RedisCommand> commands;
  for (const Entry& entry : *entries) {
    commands.push_back(OnStream({"XPENDING", kStream, kGroup, entry.id, entry.id, "1"}));
  }
  std::vector<Result<RedisReply>> replies = client_.Pipeline(commands);
  for (size_t i = 0; i < replies.size(); ++i) {
    RETURN_IF_ERROR(replies[i].status());
    const std::vector<RedisReply>& rows = replies[i]->elements;
    if (rows.empty() || rows[0].elements.size() < 4) continue;  // Finished by another meanwhile.
    (*entries)[i].tries = static_cast<int>(std::min<int64_t>(rows[0].elements[3].integer, INT_MAX));
  }
  return Status();
}

Result<std::vector<RedisFeedQueue::Entry>> RedisFeedQueue::ReadNew(size_t limit,
                                                                   std::chrono::milliseconds wait) {
  RedisArguments arguments = {"XREADGROUP", "GROUP", kGroup,
                              kConsumer,    "COUNT", std::to_string(limit)};
  if (wait.count() > 0) {  // BLOCK 0 would wait for ever.
    arguments.push_back("BLOCK");
    arguments.push_back(std::to_string(wait.count()));
  }
  for (const std::string& last : {std::string("STREAMS"), kStream, std::string(">")}) {
    arguments.push_back(last);
  }
  ASSIGN_OR_RETURN(const RedisReply reply, RunWithGroup(OnStream(std::move(arguments)), wait));
  std::vector<Entry> entries;
  if (reply.elements.empty() || reply.elements[0].elements.size() != 2) return entries;
  for (const RedisReply& element : reply.elements[0].elements[1].elements) {
    if (element.elements.size() != 2) continue;
    entries.push_back({element.elements[0].text, Texts(element.elements[1])});
  }
  return entries;
}

Result<std::vector<FeedQueue::Delivery>> RedisFeedQueue::Accept(const std::vector<Entry>& entries) {
  std::vector<Delivery> deliveries;
  for (const Entry& entry : entries) {
    const Result<FeedEvent> event = ParseFields(entry.fields);
    if (!event.ok()) {
      RETURN_IF_ERROR(Bury(entry.id, entry.fields, event.status().message()));
    } else if (entry.tries > kTriesMax) {
      RETURN_IF_ERROR(Bury(entry.id, entry.fields, "abandoned by its worker"));
    } else {
      deliveries.push_back({entry.id, *event, entry.tries});
    }
  }
  return deliveries;
}

Status RedisFeedQueue::KeepAlive(const Delivery& delivery) {
  const Status claimed =
      client_.Run(OnStream({"XCLAIM", kStream, kGroup, kConsumer, "0", delivery.id, "JUSTID"}))
          .status();
  // Without the group nothing can be delivered again.
  return claimed.code() == Code::kFailedPrecondition ? Status() : claimed;
}

Status RedisFeedQueue::Finish(const Delivery& delivery) { return Delete(delivery.id); }

Status RedisFeedQueue::Fail(const Delivery& delivery, const Status& reason) {
  Log(LogLevel::kWarning, "feed: an event failed",
      {{"kind", ToString(delivery.event.kind)},
       {"tries", delivery.tries},
       {"error", reason.ToString()}});
  if (delivery.tries < kTriesMax) return Status();  // Idle from now on, it is redelivered.
  return Bury(delivery.id, ToFields(delivery.event), reason.ToString());
}

Result<FeedQueue::Depth> RedisFeedQueue::Measure() {
  std::vector<Result<RedisReply>> replies = client_.Pipeline(
      {OnStream({"XLEN", kStream}), {.arguments = {"XLEN", kDeadStream}, .key = kDeadStream}});
  RETURN_IF_ERROR(replies[0].status());
  RETURN_IF_ERROR(replies[1].status());
  return Depth{replies[0]->integer, replies[1]->integer};
}

Status RedisFeedQueue::Bury(const std::string& id, const std::vector<std::string>& fields,
                            const std::string& reason) {
  // In a cluster the two streams are on different nodes. In this order an event may be buried
  // twice, but is never lost.
  RedisArguments arguments = {"XADD", kDeadStream, "MAXLEN", "~", std::to_string(kDeadMax), "*"};
  arguments.insert(arguments.end(), fields.begin(), fields.end());
  for (const std::string& last : {std::string("event"), id, std::string("error"), reason}) {
    arguments.push_back(last);
  }
  RETURN_IF_ERROR(client_.Run({.arguments = std::move(arguments), .key = kDeadStream}).status());
  Log(LogLevel::kError, "feed: an event became a dead letter", {{"id", id}, {"error", reason}});
  return Delete(id);
}

Status RedisFeedQueue::Delete(const std::string& id) {
  return client_.Run(CallScript(kDeleteEntry, {kStream}, {kGroup, id})).status();
}

}  // namespace hearth::feed
