#include "service/write_streams.h"

#include <charconv>
#include <iterator>
#include <utility>

namespace hearth::service {

std::optional<uint64_t> WriteStreamState::AnswersOf(std::string_view token) {
  uint64_t answers = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), answers);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return answers;
}

Status WriteStreamState::Acknowledge(uint64_t answers) {
  MutexLock lock(mutex_);
  if (answers > forgotten_ + answers_.size()) {
    return InvalidArgument("The stream token is not one of this stream.");
  }
  while (forgotten_ < answers) DropOldest();
  return Status();
}

void WriteStreamState::DropOldest() {
  claim_.Shrink(answers_.front().size());
  answers_.pop_front();
  ++forgotten_;
}

Result<std::optional<std::string>> WriteStreamState::AnswerAfter(uint64_t answers) {
  MutexLock lock(mutex_);
  if (answers < forgotten_) {
    return Status(Code::kAborted, "The stream can no longer be resumed from this token.");
  }
  if (answers >= forgotten_ + answers_.size()) return std::optional<std::string>();
  return std::optional<std::string>(answers_[answers - forgotten_]);
}

void WriteStreamState::AddAnswer(std::string answer) {
  MutexLock lock(mutex_);
  // Without memory, older answers make room for it; in the end, it is dropped as well. All of them
  // are one claim: many small ones must not use up what is reserved for small claims.
  while (!claim_.Resize(claim_.bytes() + answer.size())) {
    if (answers_.empty()) {
      ++forgotten_;
      return;
    }
    DropOldest();
  }
  answers_.push_back(std::move(answer));
  while (answers_.size() > kUnacknowledgedMax || claim_.bytes() > kUnacknowledgedBytesMax) {
    DropOldest();
  }
}

bool WriteStreamState::TakeOver() {
  MutexLock lock(mutex_);
  return !std::exchange(is_taken_, true);
}

void WriteStreamState::Leave() {
  MutexLock lock(mutex_);
  is_taken_ = false;
}

std::shared_ptr<WriteStreamState> WriteStreams::Open(const std::string& database) {
  MutexLock lock(mutex_);
  Forget();
  // Any client that knows the id can resume the stream, so it must be unguessable.
  const std::string id = std::to_string(random_.Next()) + std::to_string(random_.Next());
  auto stream = std::make_shared<WriteStreamState>(id, database, memory_);
  streams_.push_back({stream, clock_.Monotonic()});
  by_id_[id] = std::prev(streams_.end());
  return stream;
}

std::shared_ptr<WriteStreamState> WriteStreams::Find(const std::string& id) {
  MutexLock lock(mutex_);
  Forget();
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  found->second->used = clock_.Monotonic();
  streams_.splice(streams_.end(), streams_, found->second);
  return found->second->stream;
}

void WriteStreams::Forget() {
  constexpr int kLooksMax = 16;  // Per call, to keep the lock short.
  const auto now = clock_.Monotonic();
  for (int look = 0; look < kLooksMax && !streams_.empty(); ++look) {
    Entry& oldest = streams_.front();
    if (streams_.size() <= kStreamsMax && oldest.used > now - kIdleMax) return;
    if (oldest.stream.use_count() > 1) {  // A connection uses it.
      oldest.used = now;
      streams_.splice(streams_.end(), streams_, streams_.begin());
      continue;
    }
    by_id_.erase(oldest.stream->id());
    streams_.pop_front();
  }
}

}  // namespace hearth::service
