#pragma once

#include <cstddef>
#include <unordered_map>

#include "base/connected_client.h"

namespace hearth {

// Whether a client that has `of_client` of a bounded number of places may take one more.
//
// Any client may take places while less than half of them are taken. From then on, a client may
// have a sixteenth, and the last eighth is for clients that have none. So one greedy client gets
// half, it takes seven to use up all but the last eighth, and then as many more as that has places
// until a newcomer finds none. This process itself may take the last one.
constexpr bool MayTakePlace(ClientKey client, size_t of_client, size_t taken, size_t places) {
  if (taken >= places) return false;
  if (client == ClientKey::kInternal || of_client == 0) return true;
  const size_t free_for_all = (places + 1) / 2;
  if (taken < free_for_all) return true;
  const size_t reserve = places / 8;
  return taken < places - reserve && of_client < places / 16;
}

// A bounded number of places, shared by clients.
//
// Threads: one at a time; callers guard it.
class SharedPlaces {
 public:
  explicit SharedPlaces(size_t places) : places_(places) {}

  // Returns false and takes nothing if the client has had its share.
  [[nodiscard]] bool TryTake(ClientKey client) {
    const auto found = of_client_.find(client);
    const size_t has = found == of_client_.end() ? 0 : found->second;
    if (!MayTakePlace(client, has, taken_, places_)) return false;
    ++taken_;
    ++of_client_[client];
    return true;
  }
  void Return(ClientKey client) {
    --taken_;
    const auto found = of_client_.find(client);
    if (--found->second == 0) of_client_.erase(found);
  }

  size_t taken() const { return taken_; }

 private:
  const size_t places_;
  size_t taken_ = 0;
  std::unordered_map<ClientKey, size_t> of_client_;
};

// A bounded number of bytes, shared by the same rule: the last eighth is for clients that have
// little. This process itself may take all.
//
// Threads: one at a time; callers guard it.
class SharedBytes {
 public:
  // `little_max`: a client that has at most this much may always have it, while there is any.
  SharedBytes(size_t bytes_max, size_t little_max)
      : bytes_max_(bytes_max), little_max_(little_max) {}

  // Returns false and takes nothing if the client has had its share.
  [[nodiscard]] bool TryTake(ClientKey client, size_t bytes) {
    if (!MayTake(client, bytes)) return false;
    Take(client, bytes);
    return true;
  }
  // Takes bytes that are already in use. The sum may exceed the bound.
  void Take(ClientKey client, size_t bytes) {
    if (bytes == 0) return;
    taken_ += bytes;
    of_client_[client] += bytes;
  }
  void Return(ClientKey client, size_t bytes) {
    if (bytes == 0) return;
    taken_ -= bytes;
    const auto found = of_client_.find(client);
    found->second -= bytes;
    if (found->second == 0) of_client_.erase(found);
  }

  size_t taken() const { return taken_; }

 private:
  bool MayTake(ClientKey client, size_t bytes) const {
    if (taken_ > bytes_max_ || bytes > bytes_max_ - taken_) return false;
    const auto found = of_client_.find(client);
    const size_t of_client = (found == of_client_.end() ? 0 : found->second) + bytes;
    if (client == ClientKey::kInternal || of_client <= little_max_) return true;
    const size_t taken = taken_ + bytes;
    if (taken <= (bytes_max_ + 1) / 2) return true;
    const size_t reserve = bytes_max_ / 8;
    return taken <= bytes_max_ - reserve && of_client <= bytes_max_ / 16;
  }

  const size_t bytes_max_;
  const size_t little_max_;
  size_t taken_ = 0;
  std::unordered_map<ClientKey, size_t> of_client_;
};

}  // namespace hearth
