#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/clock.h"
#include "kit/jobs/quota.h"

namespace hearth::kit {

// Slows down guessing of passwords without locking owners out. Only failures count.
//
// 1. An address has a number of failures, over all names. It should stand for all clients that
//    quotas cannot tell apart (kit/web/lane.h).
// 2. An address has kNameFailuresMax failures per name, but only kGuardedFailuresMax while a name
//    fails more than kAttackFailuresMax times from all addresses together. So a guesser with many
//    addresses gets few tries from each, and the owner still has some from theirs.
// 3. A browser that has signed in before (kit/web/known_devices.h) has its own count instead. Its
//    user can sign in even if others at the same address have used up the address's failures.
//
// A user without such a browser who shares an address with a guesser has to wait while the guesser
// goes on, or to use another address.
//
// Threads: safe for concurrent use. Each table has at most kKeysMax entries.
class SignInLimits {
 public:
  static constexpr std::chrono::minutes kWindow{15};
  static constexpr size_t kAddressFailuresMaxDefault = 100;
  static constexpr size_t kNameFailuresMax = 10;
  static constexpr size_t kGuardedFailuresMax = 3;
  static constexpr size_t kAttackFailuresMax = 50;
  static constexpr size_t kKeysMax = 100'000;

  SignInLimits(const Clock& clock, size_t failures_per_address);

  struct Client {
    std::string address;
    std::string username;
    std::optional<std::string> device = {};  // Known to belong to that user.
    bool is_name_counted = false;            // Set by Begin.
  };
  // Counts a failure in advance, so that attempts at the same time do not exceed the limits. The
  // result is nullopt if the attempt may be made, else the time to wait.
  std::optional<std::chrono::milliseconds> Begin(Client* client);
  // The password was right.
  void Succeed(const Client& client);
  // The attempt could not be made.
  void Cancel(const Client& client);

 private:
  static std::string PairOf(const Client& client) { return client.address + " " + client.username; }

  QuotaWindows by_address_;
  QuotaWindows by_pair_;
  QuotaWindows by_name_;
  QuotaWindows by_device_;
};

}  // namespace hearth::kit
