#include "doors/webchannel/session_table.h"

#include <utility>

#include "base/base64.h"
#include "base/random.h"

namespace hearth::doors::webchannel {

std::string NewSessionId() {
  constexpr size_t kBytes = 16;
  return EncodeBase64Url(SecureRandomBytes(kBytes));
}

bool SessionTable::Add(const std::string& id, std::shared_ptr<ChannelSession> session) {
  MutexLock lock(mutex_);
  const ClientKey client = session->client()->key();
  if (!places_.TryTake(client)) return false;
  if (sessions_.emplace(id, std::move(session)).second) return true;
  places_.Return(client);
  return false;
}

std::shared_ptr<ChannelSession> SessionTable::Find(std::string_view id) const {
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

void SessionTable::Remove(const std::string& id) {
  std::shared_ptr<ChannelSession> session;  // Destroyed after the lock is released.
  MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  session = std::move(found->second);
  places_.Return(session->client()->key());
  sessions_.erase(found);
}

void SessionTable::Clear() {
  Sessions sessions;
  {
    MutexLock lock(mutex_);
    sessions.swap(sessions_);
  }
  for (const auto& [id, session] : sessions) session->Shutdown();
}

size_t SessionTable::size() const {
  MutexLock lock(mutex_);
  return sessions_.size();
}

}  // namespace hearth::doors::webchannel
