#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace hearth {

template <typename Signature>
class Callback;

// A function to be called later. Unlike std::function, it may own values that cannot be copied.
// Small captures need no allocation. Calling an empty one is a bug.
//
// Threads: one at a time. Ownership: owns what the function captured.
template <typename R, typename... Arguments>
class Callback<R(Arguments...)> {
 public:
  Callback() = default;
  Callback(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): as with std::function.

  template <typename Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, Callback> &&
           std::is_invocable_r_v<R, std::decay_t<Function>&, Arguments...>)
      Callback(
          Function&& function) {  // NOLINT(google-explicit-constructor): as with std::function.
    using Stored = std::decay_t<Function>;
    if constexpr (FitsInline<Stored>()) {
      new (storage_) Stored(std::forward<Function>(function));
      actions_ = &kInline<Stored>;
    } else {
      new (storage_) Stored*(new Stored(std::forward<Function>(function)));
      actions_ = &kOnHeap<Stored>;
    }
  }

  Callback(Callback&& other) noexcept : actions_(std::exchange(other.actions_, nullptr)) {
    if (actions_) actions_->move(other.storage_, storage_);
  }
  Callback& operator=(Callback&& other) noexcept {
    if (this == &other) return *this;
    Reset();
    actions_ = std::exchange(other.actions_, nullptr);
    if (actions_) actions_->move(other.storage_, storage_);
    return *this;
  }
  Callback& operator=(std::nullptr_t) noexcept {
    Reset();
    return *this;
  }
  ~Callback() { Reset(); }

  explicit operator bool() const { return actions_ != nullptr; }

  R operator()(Arguments... arguments) {
    return actions_->call(storage_, std::forward<Arguments>(arguments)...);
  }

 private:
  // Enough for a pointer to an object and the captures of most requests.
  static constexpr size_t kInlineBytes = 48;

  struct Actions {
    R (*call)(void* storage, Arguments&&... arguments);
    // Leaves `from` without an object.
    void (*move)(void* from, void* to) noexcept;
    void (*destroy)(void* storage) noexcept;
  };

  template <typename Stored>
  static constexpr bool FitsInline() {
    return sizeof(Stored) <= kInlineBytes && alignof(Stored) <= alignof(std::max_align_t) &&
           std::is_nothrow_move_constructible_v<Stored>;
  }

  template <typename Stored>
  static constexpr Actions kInline = {
      [](void* storage, Arguments&&... arguments) -> R {
        return (*std::launder(static_cast<Stored*>(storage)))(
            std::forward<Arguments>(arguments)...);
      },
      [](void* from, void* to) noexcept {
        Stored* stored = std::launder(static_cast<Stored*>(from));
        new (to) Stored(std::move(*stored));
        stored->~Stored();
      },
      [](void* storage) noexcept { std::launder(static_cast<Stored*>(storage))->~Stored(); }};

  template <typename Stored>
  static constexpr Actions kOnHeap = {
      [](void* storage, Arguments&&... arguments) -> R {
        return (**std::launder(static_cast<Stored**>(storage)))(
            std::forward<Arguments>(arguments)...);
      },
      [](void* from, void* to) noexcept { std::memcpy(to, from, sizeof(Stored*)); },
      [](void* storage) noexcept { delete *std::launder(static_cast<Stored**>(storage)); }};

  void Reset() noexcept {
    if (const Actions* actions = std::exchange(actions_, nullptr)) actions->destroy(storage_);
  }

  const Actions* actions_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kInlineBytes];
};

// Work to run later or on another thread.
using Task = Callback<void()>;

}  // namespace hearth
