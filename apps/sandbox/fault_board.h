#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"

namespace hearth::sandbox {

enum class FaultKind : uint8_t {
  kTimeout,    // Accepts the request and never answers.
  kError,      // 500.
  kRateLimit,  // 429 with Retry-After.
  kGarbage,    // 200 with a JSON content type, but not JSON.
  kSlow,       // The right response, piece by piece.
  kRefuse,     // Closes the connection.
  kWrongType,  // 200 with an HTML page.
};

struct Fault {
  std::string service;
  FaultKind kind;
  std::string path_prefix = {};               // Below the service's name: "/v0/item/".
  std::optional<uint64_t> times_left = {};    // nullopt: until cleared.
  std::chrono::milliseconds slow_pause{250};  // Between two pieces.

  nlohmann::json ToJson() const;
  friend bool operator==(const Fault&, const Fault&) = default;
};

// The faults to inject, and the number of requests per service.
//
// Threads: safe for concurrent use.
class FaultBoard {
 public:
  static constexpr size_t kFaultsMax = 1'000;

  explicit FaultBoard(const std::vector<std::string>& services);

  // InvalidArgument if the JSON is not a fault, ResourceExhausted for one too many.
  Result<Fault> Add(std::string_view json) EXCLUDES_LOCK(mutex_);
  void Clear() EXCLUDES_LOCK(mutex_);

  // Counts a request and returns the first matching fault, if any.
  std::optional<Fault> OnRequest(const std::string& service, std::string_view path)
      EXCLUDES_LOCK(mutex_);

  std::vector<Fault> faults() const EXCLUDES_LOCK(mutex_);
  std::map<std::string, uint64_t> request_counts() const EXCLUDES_LOCK(mutex_);

 private:
  mutable Mutex mutex_;  // Leaf lock.
  std::vector<Fault> faults_ GUARDED_BY(mutex_);
  std::map<std::string, uint64_t> request_counts_ GUARDED_BY(mutex_);
};

}  // namespace hearth::sandbox
