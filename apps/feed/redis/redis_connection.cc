#include "apps/feed/redis/redis_connection.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/status_macros.h"

namespace hearth::feed {
namespace {

constexpr int kReplyDepthMax = 8;  // Of nested arrays; none of our commands needs more.

timeval ToTimeval(std::chrono::milliseconds time) {
  return {.tv_sec = time.count() / 1'000, .tv_usec = time.count() % 1'000 * 1'000};
}

// hiredis writes without MSG_NOSIGNAL: a closed connection would end the process. Blocks the signal
// on this thread, and consumes it if it was raised.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeGuard() {
    const int saved = errno;  // Of the failed call, still to be reported.
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &at_once) == -1 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = saved;
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_;
};

RedisReply Convert(const redisReply& raw, int depth) {
  RedisReply reply;
  const auto take_text = [&](RedisReply::Type type) {
    reply.type = type;
    reply.text.assign(raw.str, static_cast<size_t>(raw.len));
  };
  switch (raw.type) {
    case REDIS_REPLY_STRING:
      take_text(RedisReply::Type::kString);
      break;
    case REDIS_REPLY_STATUS:
      take_text(RedisReply::Type::kStatus);
      break;
    case REDIS_REPLY_ERROR:
      take_text(RedisReply::Type::kError);
      break;
    case REDIS_REPLY_INTEGER:
      reply.type = RedisReply::Type::kInteger;
      reply.integer = raw.integer;
      break;
    case REDIS_REPLY_ARRAY:
      reply.type = RedisReply::Type::kArray;
      for (size_t i = 0; i < raw.elements && depth < kReplyDepthMax; ++i) {
        reply.elements.push_back(Convert(*raw.element[i], depth + 1));
      }
      break;
    default:
      break;
  }
  return reply;
}

}  // namespace

void RedisConnection::Closer::operator()(redisContext* context) const { redisFree(context); }

Result<std::unique_ptr<RedisConnection>> RedisConnection::Open(
    const RedisAddress& address, std::chrono::milliseconds connect_timeout) {
  Context context(
      redisConnectWithTimeout(address.host.c_str(), address.port, ToTimeval(connect_timeout)));
  std::unique_ptr<RedisConnection> connection(
      new RedisConnection(std::move(context), address.ToString()));
  if (!connection->context_) return Status(Code::kUnavailable, "no memory for a connection");
  if (connection->context_->err != 0) return connection->Failure();
  return connection;
}

Result<std::vector<RedisReply>> RedisConnection::Exchange(std::span<const RedisArguments> commands,
                                                          std::chrono::milliseconds timeout) {
  const SigpipeGuard guard;
  if (redisSetTimeout(context_.get(), ToTimeval(timeout)) != REDIS_OK) return Failure();
  std::vector<RedisReply> replies;
  replies.reserve(commands.size());
  while (!commands.empty()) {
    const size_t size = std::min(commands.size(), kPipelineMax);
    RETURN_IF_ERROR(ExchangeSome(commands.first(size), &replies));
    commands = commands.subspan(size);
  }
  return replies;
}

Status RedisConnection::ExchangeSome(std::span<const RedisArguments> commands,
                                     std::vector<RedisReply>* replies) {
  for (const RedisArguments& arguments : commands) {
    std::vector<const char*> texts;
    std::vector<size_t> sizes;
    for (const std::string& argument : arguments) {
      texts.push_back(argument.data());
      sizes.push_back(argument.size());
    }
    if (redisAppendCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(),
                               sizes.data()) != REDIS_OK) {
      return Failure();
    }
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    void* raw = nullptr;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK || raw == nullptr) return Failure();
    const std::unique_ptr<redisReply, void (*)(redisReply*)> reply(
        static_cast<redisReply*>(raw), [](redisReply* old) { freeReplyObject(old); });
    replies->push_back(Convert(*reply, 0));
  }
  return Status();
}

bool RedisConnection::IsStale() const {
  pollfd entry = {.fd = context_->fd, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) != 0;
}

Status RedisConnection::Failure() const {
  // A timeout is reported as EAGAIN, whose text is not helpful.
  const bool is_timeout =
      context_->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
  const std::string reason = is_timeout ? "no answer in time" : context_->errstr;
  return Status(Code::kUnavailable, "Redis at " + name_ + ": " + reason);
}

}  // namespace hearth::feed
