#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "kit/outbound/outbound.h"
#include "kit/outbound/outbound_url.h"

namespace hearth::kit {

enum class PrivateAddresses : uint8_t { kRefused, kAllowed };

struct TransferLimits {
  std::chrono::milliseconds connect_timeout;
  std::chrono::milliseconds timeout;
  size_t response_bytes_max;
  std::string user_agent;
};

// One HTTP exchange at a time, on connections that are kept open. Follows no redirects, uses no
// proxy, keeps no cookies.
//
// Threads: used by one thread at a time; Wake from any. Errors: as for Outbound.
class HttpTransfer {
 public:
  // The head of a response, names and values.
  static constexpr size_t kHeadBytesMax = 64 * 1024;

  HttpTransfer();
  ~HttpTransfer();

  // Returns Cancelled if woken while `stopping` is true.
  Result<HttpResponse> Perform(const HttpRequest& request, const OutboundUrl& url,
                               PrivateAddresses addresses, const TransferLimits& limits,
                               const std::atomic<bool>& stopping);
  void Wake();

 private:
  struct Handles;
  const std::unique_ptr<Handles> handles_;
};

}  // namespace hearth::kit
