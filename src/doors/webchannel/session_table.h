#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/fair_share.h"
#include "base/mutex.h"
#include "doors/webchannel/channel_session.h"

namespace hearth::doors::webchannel {

// An unguessable id: any client that knows it can use the session.
std::string NewSessionId();

// The sessions by id.
//
// Threads: safe for concurrent use. Ownership: shares the sessions until they are removed.
class SessionTable {
 public:
  explicit SessionTable(size_t sessions_max) : places_(sessions_max) {}

  // False if there are too many, or too many of this client.
  bool Add(const std::string& id, std::shared_ptr<ChannelSession> session) EXCLUDES_LOCK(mutex_);
  // Null if there is none.
  std::shared_ptr<ChannelSession> Find(std::string_view id) const EXCLUDES_LOCK(mutex_);
  void Remove(const std::string& id) EXCLUDES_LOCK(mutex_);
  // Shuts down every session; the loops have ended.
  void Clear() EXCLUDES_LOCK(mutex_);
  size_t size() const EXCLUDES_LOCK(mutex_);

 private:
  struct IdHash : std::hash<std::string_view> {
    using is_transparent = void;  // So that looking up a view creates no string.
  };
  using Sessions =
      std::unordered_map<std::string, std::shared_ptr<ChannelSession>, IdHash, std::equal_to<>>;

  mutable Mutex mutex_;  // Leaf lock: no session is called while it is held.
  Sessions sessions_ GUARDED_BY(mutex_);
  SharedPlaces places_ GUARDED_BY(mutex_);
};

}  // namespace hearth::doors::webchannel
