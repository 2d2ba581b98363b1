#include "http/exchange.h"

#include <algorithm>

#include "base/check.h"

namespace hearth::http {
namespace {

// Room for the head of an ordinary gRPC request, so that it takes one allocation.
constexpr size_t kUsualHeadBytes = 512;
constexpr size_t kUsualHeaderCount = 16;

// What a connection claims beyond its use, and what an idle one may keep claimed.
constexpr size_t kClaimStepBytes = 16 * 1024;
// Of requests with their heads, what a connection may always have.
constexpr size_t kHeadBytesMin = 16 * 1024;
// A client with this much unread is behind; with the smaller amount, if memory is scarce. Much more
// than a few streams that the client has paused on purpose, since others may wait for those.
constexpr size_t kUnreadBytesMax = 16 * 1024 * 1024;
constexpr size_t kUnreadBytesMin = 64 * 1024;

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view RequestHead::path() const { return target().substr(0, target().find('?')); }

std::string_view RequestHead::query() const {
  const size_t mark = target().find('?');
  return mark == std::string_view::npos ? std::string_view() : target().substr(mark + 1);
}

bool RequestHead::has_valid_target() const {
  return target().starts_with('/') || (target() == "*" && method() == "OPTIONS");
}

Header RequestHead::header(size_t index) const {
  const Field& field = fields_[index];
  return {.name = View(field.name), .value = View(field.value)};
}

std::optional<std::string_view> RequestHead::Find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (View(field.name) == name) return View(field.value);
  }
  return std::nullopt;
}

void RequestHead::AddHeader(std::string_view name, std::string_view value) {
  if (fields_.empty()) fields_.reserve(kUsualHeaderCount);
  const Range lower = Add(name);
  char* const begin = text_.data() + lower.begin;
  std::transform(begin, begin + lower.size, begin, ToLower);
  fields_.push_back({.name = lower, .value = Add(value)});
}

RequestHead::Range RequestHead::Add(std::string_view text) {
  if (text_.empty()) text_.reserve(kUsualHeadBytes);
  const Range range = {.begin = static_cast<uint32_t>(text_.size()),
                       .size = static_cast<uint32_t>(text.size())};
  text_.append(text);
  return range;
}

BufferBudget::BufferBudget(size_t request_bytes_max, MemoryBudget* memory)
    : request_bytes_max_(request_bytes_max), memory_(memory), claim_(memory) {}

bool BufferBudget::Claim(size_t bytes) {
  const size_t needed = needed_bytes() + bytes;
  if (needed <= claim_.bytes()) return true;
  // The exact amount if there is not enough for a whole step.
  return (!is_scarce() && claim_.Resize(needed + kClaimStepBytes)) || claim_.Resize(needed);
}

void BufferBudget::Release() {
  const size_t unused = claim_.bytes() - needed_bytes();
  const size_t kept_max = is_scarce() ? 0 : 2 * kClaimStepBytes;
  if (unused > kept_max) claim_.Shrink(unused);
}

bool BufferBudget::is_scarce() const { return memory_ != nullptr && memory_->is_scarce(); }

bool BufferBudget::Take(size_t bytes) {
  if (bytes > request_bytes_max_ - request_bytes_ || !Claim(bytes)) return false;
  request_bytes_ += bytes;
  return true;
}

void BufferBudget::Return(size_t bytes) {
  CHECK(bytes <= request_bytes_);
  request_bytes_ -= bytes;
  Release();
}

bool BufferBudget::TakeRequest(size_t bytes) {
  const bool is_one_of_many = head_bytes_ + bytes > kHeadBytesMin;
  if (is_one_of_many && memory_ != nullptr && memory_->is_nearly_used_up()) return false;
  if (!Take(bytes)) return false;
  head_bytes_ += bytes;
  return true;
}

void BufferBudget::ReturnRequest(size_t bytes) {
  CHECK(bytes <= head_bytes_);
  head_bytes_ -= bytes;
  Return(bytes);
}

bool BufferBudget::TakeAnswer(size_t bytes) {
  if (!Claim(bytes)) return false;
  answer_bytes_ += bytes;
  return true;
}

void BufferBudget::ReturnAnswer(size_t bytes) {
  CHECK(bytes <= answer_bytes_);
  answer_bytes_ -= bytes;
  Release();
}

bool BufferBudget::SetBuffers(size_t bytes) {
  bool has_room = true;
  if (bytes > buffer_bytes_ && !Claim(bytes - buffer_bytes_)) {
    has_room = false;
    claim_.GrowAnyway(needed_bytes() + (bytes - buffer_bytes_) - claim_.bytes());
  }
  buffer_bytes_ = bytes;
  Release();
  return has_room;
}

bool BufferBudget::is_behind() const {
  if (answer_bytes_ < kUnreadBytesMin) return false;
  return answer_bytes_ >= kUnreadBytesMax || is_scarce();
}

}  // namespace hearth::http
