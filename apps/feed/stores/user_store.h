#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/feed/stores/collections.h"
#include "base/clock.h"
#include "base/status.h"

namespace hearth::feed {

struct User {
  UserId id = {};
  std::string username = {};
  std::string display_name = {};
  std::string bio = {};
  std::string password_hash = {};  // Empty: sign-in is impossible, as for demo accounts.
  bool is_new_user = true;
  int64_t created_seconds = 0;
  int64_t post_count = 0;
  int64_t follower_count = 0;
  int64_t following_count = 0;
};

client::Map ToDocument(const User& user);

// The accounts.
//
// Threads: safe for concurrent use. Errors: NotFound, AlreadyExists for a name that is taken.
class UserStore {
 public:
  UserStore(const Clock& clock, Collections collections);

  // Assigns an id and the time. Names are compared in lower case.
  Result<User> Create(User user);
  Result<User> Get(UserId id) const;
  // In the order of the ids; missing ones are omitted.
  Result<std::vector<User>> GetAll(const std::vector<UserId>& ids) const;
  Result<User> FindByName(const std::string& username) const;
  // Accounts whose username or display name starts with the text, ignoring case. For an empty text,
  // those with the most followers.
  Result<std::vector<User>> Search(const std::string& text, size_t limit) const;
  Status FinishOnboarding(UserId id);
  Result<int64_t> Count() const;

 private:
  const Clock& clock_;
  const Collections collections_;
};

}  // namespace hearth::feed
