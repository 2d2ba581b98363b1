#pragma once

#include <cstddef>
#include <unordered_map>

#include "base/connected_client.h"

namespace hearth {

// Whether a client that has `of_client` of a bounded number of places may take one more.
//
// A client may have as many places as are free. So a single client gets half of them, a second one
// half of the rest, and a newcomer always finds a place until there are very many greedy clients.
// This process itself may take the last one.
constexpr bool MayTakePlace(ClientKey client, size_t of_client, size_t taken, size_t places) {
  return taken < places && (client == ClientKey::kInternal || of_client < places - taken);
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

}  // namespace hearth
