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
  kTimeout,    // Takes the request and never answers.
  kError,      // 500.
  kRateLimit,  // 429 with Retry-After.
  kGarbage,    // 200 and JSON by its type, but not by its bytes.
  kSlow,       // The right answer, drop by drop.
  kRefuse,     // Breaks the connection.
  kWrongType,  // 200 and a web page.
};

struct Fault {
  std::string service;
  FaultKind kind;
  std::string path_prefix = {};               // Below the service's name: "/v0/item/".
  std::optional<uint64_t> times_left = {};    // nullopt: until cleared.
  std::chrono::milliseconds slow_pause{250};  // Between two drops.

  nlohmann::json ToJson() const;
  friend bool operator==(const Fault&, const Fault&) = default;
};

// What is to go wrong next, and how often each service was asked.
//
// Threads: safe for concurrent use.
class FaultBoard {
 public:
  static constexpr size_t kFaultsMax = 1'000;

  explicit FaultBoard(const std::vector<std::string>& services);

  // InvalidArgument for JSON that describes no fault, ResourceExhausted for one too many.
  Result<Fault> Add(std::string_view json) EXCLUDES_LOCK(mutex_);
  void Clear() EXCLUDES_LOCK(mutex_);

  // Counts a request and returns the fault to answer it with, if there is one: the first that fits.
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
