// Status and Result<T>: how every fallible function reports failure.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace hearth {

// The canonical gRPC codes with the same numbers, so a door forwards them unchanged.
enum class Code : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// The name as in Google's JSON errors and in logs, such as "INVALID_ARGUMENT".
std::string_view CodeName(Code code);

// Clients get no more of a message than this: it may quote what they sent.
inline constexpr size_t kStatusMessageBytesMax = 4 * 1024;

class [[nodiscard]] Status {
 public:
  Status() = default;  // Success.
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // Same code, with the message prefixed by what the caller was doing.
  Status While(std::string_view doing) const;

  // "NOT_FOUND: no such thing", for logs and command lines.
  std::string ToString() const;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

inline Status InvalidArgument(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}

// A T, or the non-OK Status that explains why there is no T.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that `return value;` and `return status;` both work.
  template <typename U = T>
  requires(std::convertible_to<U&&, T> && !std::same_as<std::remove_cvref_t<U>, Result> &&
           !std::same_as<std::remove_cvref_t<U>, Status>) Result(U&& value)
      : state_(std::in_place_type<T>, std::forward<U>(value)) {}
  Result(Status status) : state_(std::move(status)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  Status status() const { return ok() ? Status() : std::get<Status>(state_); }
  // Require ok(). Otherwise the process ends (std::terminate through bad_variant_access).
  const T& operator*() const& noexcept { return std::get<T>(state_); }
  T& operator*() & noexcept { return std::get<T>(state_); }
  T&& operator*() && noexcept { return std::get<T>(std::move(state_)); }
  const T* operator->() const noexcept { return &std::get<T>(state_); }
  T* operator->() noexcept { return &std::get<T>(state_); }

 private:
  std::variant<T, Status> state_;
};

// Marks the few places where a failure does not matter. `why` is for the reader.
inline void IgnoreError(const Status&, const char* /*why*/) {}

}  // namespace hearth
