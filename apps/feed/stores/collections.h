#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "apps/feed/ids/ids.h"
#include "client/firestore.h"

namespace hearth::feed {

// The collections of the feed. The prefix separates environments, and other applications in the
// same database.
//
// Threads: immutable.
class Collections {
 public:
  // `environment`: "prod", "staging", "ci" or "dev".
  Collections(client::Firestore database, const std::string& environment)
      : database_(std::move(database)), prefix_(environment + "-feed-") {}

  const client::Firestore& database() const { return database_; }

  client::CollectionReference users() const { return Of("users"); }
  client::DocumentReference user(UserId id) const { return users().Doc(ToText(id)); }
  // The owner of a name; unique, because the name is the document's id.
  client::DocumentReference username(const std::string& name) const {
    return Of("usernames").Doc(name);
  }
  // One document per account that a user follows, and the reverse.
  client::CollectionReference following(UserId user) const {
    return this->user(user).Collection("following");
  }
  client::CollectionReference followers(UserId user) const {
    return this->user(user).Collection("followers");
  }
  // The ids of all accounts that a user follows, for a single read.
  client::DocumentReference following_list(UserId user) const {
    return this->user(user).Collection("lists").Doc("following");
  }
  client::CollectionReference posts() const { return Of("posts"); }
  client::DocumentReference post(PostId id) const { return posts().Doc(ToText(id)); }
  client::DocumentReference like(PostId post, UserId user) const {
    return this->post(post).Collection("likes").Doc(ToText(user));
  }
  client::CollectionReference comments(PostId post) const {
    return this->post(post).Collection("comments");
  }
  // The last assigned id: "users", "posts", "comments".
  client::DocumentReference counter(const std::string& name) const {
    return Of("counters").Doc(name);
  }
  // The ids of the authors whose posts are pulled by readers, not pushed.
  client::DocumentReference pulled_authors() const { return Of("lists").Doc("pulled"); }
  // Deleted posts whose pictures may still be stored.
  client::CollectionReference removals() const { return Of("removals"); }
  client::DocumentReference removal(PostId post) const { return removals().Doc(ToText(post)); }
  // Families of refresh tokens.
  client::CollectionReference sessions() const { return Of("sessions"); }
  client::CollectionReference events() const { return Of("events"); }
  client::CollectionReference dead_events() const { return Of("dead-events"); }
  // The progress of the demo.
  client::DocumentReference demo() const { return Of("lists").Doc("demo"); }

 private:
  client::CollectionReference Of(const std::string& name) const {
    return database_.Collection(prefix_ + name);
  }

  client::Firestore database_;
  std::string prefix_;
};

}  // namespace hearth::feed
