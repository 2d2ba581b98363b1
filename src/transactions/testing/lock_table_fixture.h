// For tests: a lock table whose requests are answered into variables.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/fake_clock.h"
#include "model/testing/printers.h"
#include "transactions/lock_table.h"
#include "transactions/testing/transactions.h"

namespace hearth::transactions {

inline constexpr std::chrono::seconds kWaitMax{5};

// The outcome of a request; nullopt while it waits.
using Verdict = std::shared_ptr<std::optional<Status>>;

inline bool Waits(const Verdict& verdict) { return !verdict->has_value(); }
inline bool Granted(const Verdict& verdict) { return *verdict == Status(); }
inline bool Refused(const Verdict& verdict) { return *verdict == kContention; }

// Keys are "a1", "a2", "b1" and so on; prefixes are "a" and "b".
class LockTableFixture : public testing::Test {
 protected:
  using Keys = std::vector<std::string>;

  Verdict AcquireScope(LockOwner owner, LockMode mode, LockScope scope) {
    auto verdict = std::make_shared<std::optional<Status>>();
    locks_.Acquire(owner, std::move(scope), mode,
                   [verdict](Status status) { *verdict = std::move(status); });
    return verdict;
  }
  Verdict Acquire(LockOwner owner, LockMode mode, Keys keys, std::vector<KeyPrefix> prefixes = {}) {
    return AcquireScope(owner, mode, {std::move(keys), std::move(prefixes)});
  }
  Verdict Read(LockOwner owner, const std::string& key) {
    return Acquire(owner, LockMode::kRead, {key});
  }
  Verdict Write(LockOwner owner, const std::string& key) {
    return Acquire(owner, LockMode::kWrite, {key});
  }
  Verdict Update(LockOwner owner, const std::string& key) {
    return Acquire(owner, LockMode::kUpdate, {key});
  }
  Verdict ReadPrefix(LockOwner owner, const std::string& prefix) {
    return Acquire(owner, LockMode::kRead, {}, {{prefix}});
  }
  Verdict UpdatePrefix(LockOwner owner, const std::string& prefix) {
    return Acquire(owner, LockMode::kUpdate, {}, {{prefix}});
  }
  void Yield(LockOwner owner, IdleOwner::YieldsTo yields_to) {
    locks_.Yield({IdleOwner{owner, yields_to}});
  }
  void WaitForTooLong() {
    clock_.Advance(kWaitMax);
    locks_.ExpireWaits();
  }

  // Greater is younger.
  static constexpr LockOwner kA{1, 1}, kB{2, 2}, kC{3, 3}, kD{4, 4}, kE{5, 5};
  static constexpr LockOwner kRetryOfD{4, 9};
  const LockOwner outside_ = LockOwner::OutsideOfTransactions(6);

  FakeClock clock_{1'000'000};
  LockTable locks_{clock_, kWaitMax};
};

}  // namespace hearth::transactions
