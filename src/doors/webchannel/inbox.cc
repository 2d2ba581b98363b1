#include "doors/webchannel/inbox.h"

#include <utility>

namespace hearth::doors::webchannel {

Status Inbox::Add(std::vector<IncomingMap> maps) {
  std::erase_if(maps, [this](const IncomingMap& map) {
    return map.index < next_index_ || held_.contains(map.index);
  });
  size_t bytes = 0;
  for (const IncomingMap& map : maps) bytes += map.json.size();
  if (maps.size() > maps_max_ - held_.size() || bytes > bytes_max_ - held_bytes_) {
    return Status(Code::kResourceExhausted, "too many messages wait to be taken");
  }
  held_bytes_ += bytes;
  for (IncomingMap& map : maps) held_.emplace(map.index, std::move(map.json));
  return Status();
}

std::optional<std::string> Inbox::Next() {
  if (!has_next()) return std::nullopt;
  std::string json = std::move(held_.begin()->second);
  held_.erase(held_.begin());
  held_bytes_ -= json.size();
  ++next_index_;
  return json;
}

void Inbox::Clear() {
  held_.clear();
  held_bytes_ = 0;
}

}  // namespace hearth::doors::webchannel
