// For members that no mutex guards, because only one thread at a time can reach them.
#pragma once

#include <atomic>
#include <thread>

#include "base/check.h"
#include "base/mutex.h"

namespace hearth {

#if defined(NDEBUG)
inline constexpr bool kRolesAreChecked = false;
#else
inline constexpr bool kRolesAreChecked = true;
#endif

// A role that one thread at a time plays, such as "the loop" or "the step". Members are GUARDED_BY
// it, functions REQUIRES_LOCK it, and Clang checks both. A function that is entered from outside,
// such as a callback, calls Assert to state that it runs in the role. Builds without NDEBUG check
// that it does.
//
// Threads: Begin and Assert only on the thread that plays the role.
class HEARTH_TSA_(capability("role")) Role {
 public:
  // True while the calling thread plays the role.
  using IsPlayed = bool (*)(const void* context);

  // The role of any thread between its calls of Begin and End.
  Role() = default;
  // A role that `is_played` checks, such as that of an event loop's thread.
  Role(IsPlayed is_played, const void* context) : is_played_(is_played), context_(context) {}
  Role(const Role&) = delete;
  Role& operator=(const Role&) = delete;

  void Begin() HEARTH_TSA_(acquire_capability()) {
    // Two threads in one role at a time is a bug in Hearth.
    if (kRolesAreChecked) CHECK(player_.exchange(std::this_thread::get_id()) == std::thread::id());
  }
  void End() HEARTH_TSA_(release_capability()) {
    if (kRolesAreChecked) player_ = std::thread::id();
  }
  void Assert() const HEARTH_TSA_(assert_capability(this)) {
    if (!kRolesAreChecked) return;
    CHECK(is_played_ ? is_played_(context_) : player_ == std::this_thread::get_id());
  }

 private:
  const IsPlayed is_played_ = nullptr;
  const void* const context_ = nullptr;
  std::atomic<std::thread::id> player_ = {};
};

// Plays a role for the lifetime of this object.
class HEARTH_TSA_(scoped_lockable) RolePlay {
 public:
  explicit RolePlay(Role& role) HEARTH_TSA_(acquire_capability(role)) : role_(role) {
    role_.Begin();
  }
  ~RolePlay() HEARTH_TSA_(release_capability()) { role_.End(); }
  RolePlay(const RolePlay&) = delete;
  RolePlay& operator=(const RolePlay&) = delete;

 private:
  Role& role_;
};

}  // namespace hearth
