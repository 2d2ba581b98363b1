#include "http/exchange.h"

#include <algorithm>

#include "base/check.h"

namespace hearth::http {
namespace {

// Room for the head of an ordinary gRPC request, so that it takes one allocation.
constexpr size_t kUsualHeadBytes = 512;
constexpr size_t kUsualHeaderCount = 16;

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view RequestHead::path() const { return target().substr(0, target().find('?')); }

std::string_view RequestHead::query() const {
  const size_t mark = target().find('?');
  return mark == std::string_view::npos ? std::string_view() : target().substr(mark + 1);
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

bool BufferBudget::Take(size_t bytes) {
  if (bytes > bytes_max_ - used_bytes_) return false;
  used_bytes_ += bytes;
  return true;
}

void BufferBudget::Return(size_t bytes) {
  CHECK(bytes <= used_bytes_);
  used_bytes_ -= bytes;
}

}  // namespace hearth::http
