#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"

namespace hearth::client {

// A program's identity at Google: the key of a service account, as the console exports it, and the
// tokens that it signs. No token server is involved.
//
// Threads: safe for concurrent use. Ownership: borrows the clock, which must outlive it.
class ServiceAccount {
 public:
  // InvalidArgument if the file cannot be read or is not such a key.
  static Result<std::unique_ptr<ServiceAccount>> Load(const std::string& path, const Clock& clock);
  static Result<std::unique_ptr<ServiceAccount>> Parse(const std::string& json, const Clock& clock);

  const std::string& project() const { return key_.project; }

  // A token that is valid for at least some minutes: the last one, or a new one. FailedPrecondition
  // if the key cannot sign.
  Result<std::string> Token() EXCLUDES_LOCK(mutex_);

 private:
  struct Key {
    std::string project;
    std::string email;
    std::string id;
    std::string pem;
  };
  ServiceAccount(Key key, const Clock& clock) : key_(std::move(key)), clock_(clock) {}
  Result<std::string> Sign(int64_t now_seconds) const;

  const Key key_;
  const Clock& clock_;
  Mutex mutex_;  // Held while signing, so that one thread signs for all.
  std::string token_ GUARDED_BY(mutex_);
  int64_t signed_at_seconds_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hearth::client
