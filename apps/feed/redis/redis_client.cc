#include "apps/feed/redis/redis_client.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace hearth::feed {

RedisCommand CallScript(const RedisScript& script, const std::vector<std::string>& keys,
                        std::vector<std::string> arguments) {
  CHECK(!keys.empty());
  RedisCommand command{
      .arguments = {std::to_string(keys.size())}, .key = keys.front(), .script = &script};
  command.arguments.insert(command.arguments.end(), keys.begin(), keys.end());
  std::move(arguments.begin(), arguments.end(), std::back_inserter(command.arguments));
  return command;
}

RedisClient::RedisClient(const Clock& clock, Metrics& metrics, std::vector<RedisAddress> addresses,
                         RedisTimes times)
    : clock_(clock),
      addresses_(std::move(addresses)),
      times_(times),
      commands_(metrics.GetCounter("feed_redis_commands_total", "Commands sent to Redis")),
      errors_(metrics.GetCounter("feed_redis_errors_total", "Redis commands that failed")),
      degraded_(
          metrics.GetGauge("feed_cache_degraded",
                           "1 while Redis is failing and feeds are served from the database")) {
  CHECK(!addresses_.empty());
}

Result<RedisReply> RedisClient::Run(const RedisCommand& command,
                                    std::chrono::milliseconds patience) {
  return std::move(Pipeline({command}, patience).front());
}

std::vector<Result<RedisReply>> RedisClient::Pipeline(const std::vector<RedisCommand>& commands,
                                                      std::chrono::milliseconds patience) {
  Results results(commands.size());
  std::vector<Pending> pending;
  for (size_t i = 0; i < commands.size(); ++i) {
    Result<SharedNode> node = Route(commands[i].key);
    if (!node.ok()) {
      results[i] = node.status();
    } else {
      pending.push_back({.index = i, .command = &commands[i], .node = *node});
    }
  }
  for (int attempt = 0; attempt < kAttemptsMax && !pending.empty(); ++attempt) {
    std::map<SharedNode, std::vector<Pending>> by_node;
    for (Pending& one : pending) by_node[one.node].push_back(std::move(one));
    pending.clear();
    for (const auto& [node, some] : by_node) {
      ExchangeWith(node, some, patience, &results, &pending);
    }
  }
  std::vector<Result<RedisReply>> answers;
  answers.reserve(results.size());
  for (std::optional<Result<RedisReply>>& result : results) {
    answers.push_back(result ? *std::move(result)
                             : Status(Code::kUnavailable, "Redis: redirected too often"));
  }
  Count(answers);
  return answers;
}

void RedisClient::ExchangeWith(const SharedNode& node, const std::vector<Pending>& pending,
                               std::chrono::milliseconds patience, Results* results,
                               std::vector<Pending>* again) {
  std::vector<RedisArguments> sent;
  std::vector<std::pair<Pending, size_t>> awaited;  // With the index of the reply.
  for (const Pending& one : pending) {
    Result<RedisArguments> arguments = ArgumentsOf(*one.command, node);
    if (!arguments.ok()) {
      (*results)[one.index] = arguments.status();
      continue;
    }
    if (one.is_asking) sent.push_back({"ASKING"});
    awaited.emplace_back(one, sent.size());
    sent.push_back(*std::move(arguments));
  }
  if (sent.empty()) return;
  Result<std::vector<RedisReply>> replies = node->Exchange(sent, patience);
  if (!replies.ok()) {
    NoteNodeFailure();
    for (const auto& [one, place] : awaited) (*results)[one.index] = replies.status();
    return;
  }
  std::set<const RedisScript*> missing;
  for (auto& [one, place] : awaited) {
    RedisReply& reply = (*replies)[place];
    if (reply.ErrorKind() == "NOSCRIPT" && one.command->script) {
      missing.insert(one.command->script);
      again->push_back(one);
      continue;
    }
    std::optional<Result<RedisReply>> result = Judge(std::move(reply), &one);
    if (result) {
      (*results)[one.index] = *std::move(result);
    } else {
      again->push_back(one);
    }
  }
  for (const RedisScript* script : missing) {
    IgnoreError(LoadScript(*script, node).status(), "sending the commands again reports the error");
  }
}

std::optional<Result<RedisReply>> RedisClient::Judge(RedisReply reply, Pending* pending) {
  if (!reply.IsError()) return Result<RedisReply>(std::move(reply));
  const std::string kind = reply.ErrorKind();
  if (kind != "MOVED" && kind != "ASK") return Result<RedisReply>(ToStatus(reply));
  const Result<RedisRedirect> redirect = ParseRedirect(reply.text, pending->node->address());
  if (!redirect.ok()) return Result<RedisReply>(redirect.status());
  pending->node = NodeAt(redirect->address);
  pending->is_asking = kind == "ASK";
  if (kind == "MOVED") {
    MutexLock lock(mutex_);
    is_stale_ = true;
    next_refresh_.reset();
  }
  return std::nullopt;
}

Result<RedisArguments> RedisClient::ArgumentsOf(const RedisCommand& command,
                                                const SharedNode& node) {
  if (!command.script) return command.arguments;
  std::optional<std::string> name;
  {
    MutexLock lock(mutex_);
    const auto known = script_names_.find(command.script);
    if (known != script_names_.end()) name = known->second;
  }
  if (!name) {
    ASSIGN_OR_RETURN(name, LoadScript(*command.script, node));
  }
  RedisArguments arguments = {"EVALSHA", *name};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  return arguments;
}

Result<std::string> RedisClient::LoadScript(const RedisScript& script, const SharedNode& node) {
  const RedisArguments command = {"SCRIPT", "LOAD", script.text};
  const Result<std::vector<RedisReply>> replies = node->Exchange({&command, 1});
  if (!replies.ok()) {
    NoteNodeFailure();
    return replies.status();
  }
  const RedisReply& reply = replies->front();
  if (reply.IsError()) return ToStatus(reply);
  MutexLock lock(mutex_);
  script_names_[&script] = reply.text;
  return reply.text;
}

Result<RedisClient::SharedNode> RedisClient::Route(const std::string& key) {
  const Status refreshed = RefreshIfNeeded();
  MutexLock lock(mutex_);
  if (!is_known_) return refreshed;
  if (!slots_) return NodeAtLocked(answered_);
  if (key.empty() && !slots_->masters.empty()) return NodeAtLocked(slots_->masters.front());
  const int16_t master = slots_->master_of[RedisSlotOf(key)];
  if (master < 0) return Status(Code::kUnavailable, "Redis: no node has the slot of " + key);
  return NodeAtLocked(slots_->masters[static_cast<size_t>(master)]);
}

Status RedisClient::RefreshIfNeeded() {
  {
    MutexLock lock(mutex_);
    if (is_known_) {
      const bool is_due = !next_refresh_ || clock_.Monotonic() >= *next_refresh_;
      if (!is_stale_ || is_refreshing_ || !is_due) return Status();
      is_refreshing_ = true;
      next_refresh_ = clock_.Monotonic() + kRefreshEvery;
    }
  }
  const Status discovered = Discover();
  MutexLock lock(mutex_);
  is_refreshing_ = false;
  return discovered;
}

Status RedisClient::Discover() {
  std::vector<RedisAddress> candidates = addresses_;
  {
    MutexLock lock(mutex_);
    for (const auto& [address, node] : nodes_) {
      if (std::find(candidates.begin(), candidates.end(), address) == candidates.end()) {
        candidates.push_back(address);
      }
    }
  }
  const RedisArguments command = {"CLUSTER", "SLOTS"};
  Status failure;
  for (const RedisAddress& address : candidates) {
    const Result<std::vector<RedisReply>> replies = NodeAt(address)->Exchange({&command, 1});
    if (!replies.ok()) {
      failure = replies.status();
      continue;
    }
    const RedisReply& reply = replies->front();
    std::optional<RedisSlotMap> slots;
    if (!reply.IsError()) {
      ASSIGN_OR_RETURN(slots, ParseClusterSlots(reply, address));
    } else if (reply.ErrorKind() != "ERR") {  // "ERR": not a cluster. Others are transient.
      failure = ToStatus(reply);
      continue;
    }
    MutexLock lock(mutex_);
    LearnLocked(std::move(slots), address);
    return Status();
  }
  return failure;
}

void RedisClient::LearnLocked(std::optional<RedisSlotMap> slots, const RedisAddress& answered) {
  slots_ = std::move(slots);
  answered_ = answered;
  is_known_ = true;
  is_stale_ = false;
  // Drops connections to nodes that have left.
  std::vector<RedisAddress> kept = addresses_;
  if (slots_) kept.insert(kept.end(), slots_->masters.begin(), slots_->masters.end());
  std::erase_if(nodes_, [&](const auto& entry) {
    return std::find(kept.begin(), kept.end(), entry.first) == kept.end();
  });
}

RedisClient::SharedNode RedisClient::NodeAt(const RedisAddress& address) {
  MutexLock lock(mutex_);
  return NodeAtLocked(address);
}

RedisClient::SharedNode RedisClient::NodeAtLocked(const RedisAddress& address) {
  SharedNode& node = nodes_[address];
  if (!node) node = std::make_shared<RedisNode>(clock_, address, times_);
  return node;
}

void RedisClient::NoteNodeFailure() {
  MutexLock lock(mutex_);
  is_stale_ = true;
}

void RedisClient::Count(const std::vector<Result<RedisReply>>& results) {
  commands_.Add(results.size());
  const auto is_failure = [](const Result<RedisReply>& result) {
    return result.status().code() == Code::kUnavailable;
  };
  const auto failures =
      static_cast<size_t>(std::count_if(results.begin(), results.end(), is_failure));
  errors_.Add(failures);
  const auto now = clock_.Monotonic();
  const double before = degraded_.value();
  {
    MutexLock lock(mutex_);
    if (failures > 0) last_error_ = now;
    degraded_.Set(last_error_ && now < *last_error_ + kDegradedFor ? 1 : 0);
  }
  if (before == degraded_.value()) return;
  if (failures == 0) {
    Log(LogLevel::kInfo, "Redis is available again");
    return;
  }
  const auto first = std::find_if(results.begin(), results.end(), is_failure);
  Log(LogLevel::kError, "Redis is failing; serving feeds from the database",
      {{"error", first->status().message()}});
}

}  // namespace hearth::feed
