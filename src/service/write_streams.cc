#include "service/write_streams.h"

#include <charconv>
#include <utility>

namespace hearth::service {
namespace {

// Streams that one call looks at, to keep the lock short.
constexpr int kLooksMax = 16;

}  // namespace

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

std::shared_ptr<WriteStreamState> WriteStreams::Open(const std::string& database,
                                                     ClientKey client) {
  MutexLock lock(mutex_);
  ForgetIdle();
  // Any client that knows the id can resume the stream, so it must be unguessable.
  const std::string id = std::to_string(random_.Next()) + std::to_string(random_.Next());
  auto stream = std::make_shared<WriteStreamState>(id, database, memory_, client);
  if (places_.TryTake(client) || ForgetOneOf(client)) {
    Add({stream, client, clock_.Monotonic()});
  }
  return stream;
}

std::shared_ptr<WriteStreamState> WriteStreams::Find(const std::string& id) {
  MutexLock lock(mutex_);
  ForgetIdle();
  const auto number = by_id_.find(id);
  if (number == by_id_.end()) return nullptr;
  const auto found = streams_.find(number->second);
  std::shared_ptr<WriteStreamState> stream = found->second.stream;
  Renew(found);
  return stream;
}

void WriteStreams::Add(Entry entry) {
  const UseNumber number = next_use_++;
  by_id_[entry.stream->id()] = number;
  by_client_.emplace(entry.client, number);
  streams_.emplace(number, std::move(entry));
}

WriteStreams::Entry WriteStreams::Take(Entries::iterator found) {
  Entry entry = std::move(found->second);
  by_id_.erase(entry.stream->id());
  by_client_.erase({entry.client, found->first});
  streams_.erase(found);
  return entry;
}

void WriteStreams::Renew(Entries::iterator found) {
  Entry entry = Take(found);
  entry.used_at = clock_.Monotonic();
  Add(std::move(entry));
}

void WriteStreams::ForgetIdle() {
  const auto limit = clock_.Monotonic() - kIdleMax;
  for (int look = 0; look < kLooksMax && !streams_.empty(); ++look) {
    const auto oldest = streams_.begin();
    if (oldest->second.used_at > limit) return;
    if (oldest->second.stream.use_count() > 1) {  // A connection uses it.
      Renew(oldest);
    } else {
      places_.Return(Take(oldest).client);
    }
  }
}

bool WriteStreams::ForgetOneOf(ClientKey client) {
  for (int look = 0; look < kLooksMax; ++look) {
    const auto oldest = by_client_.lower_bound({client, 0});
    if (oldest == by_client_.end() || oldest->first != client) return false;
    const auto found = streams_.find(oldest->second);
    if (found->second.stream.use_count() == 1) {
      Take(found);
      return true;
    }
    Renew(found);
  }
  return false;
}

}  // namespace hearth::service
