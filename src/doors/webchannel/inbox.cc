#include "doors/webchannel/inbox.h"

#include <utility>

#include "doors/webchannel/options.h"

namespace hearth::doors::webchannel {
namespace {

// What the map takes, with its place in the queue.
size_t BytesOf(const Result<std::string>& message) {
  return kHeldMapBytes + (message.ok() ? message->size() : message.status().message().size());
}

}  // namespace

Status Inbox::Add(std::vector<IncomingMap> maps) {
  std::erase_if(maps, [this](const IncomingMap& map) {
    return map.index < next_index_ || held_.contains(map.index);
  });
  size_t bytes = 0;
  for (const IncomingMap& map : maps) bytes += BytesOf(map.message);
  if (maps.size() > maps_max_ - held_.size() || bytes > bytes_max_ - held_bytes_) {
    return Status(Code::kResourceExhausted, "too many messages are waiting");
  }
  held_bytes_ += bytes;
  for (IncomingMap& map : maps) held_.emplace(map.index, std::move(map.message));
  return Status();
}

std::optional<Result<std::string>> Inbox::Next() {
  if (!has_next()) return std::nullopt;
  Result<std::string> message = std::move(held_.begin()->second);
  held_.erase(held_.begin());
  held_bytes_ -= BytesOf(message);
  ++next_index_;
  return message;
}

void Inbox::Clear() {
  held_.clear();
  held_bytes_ = 0;
}

}  // namespace hearth::doors::webchannel
