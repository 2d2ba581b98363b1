#pragma once

#include <string>
#include <utility>

#include "client/firestore.h"

namespace hearth::hackernews {

// The reader's collections. A prefix separates environments that share a database.
//
// Threads: immutable.
class Collections {
 public:
  // `environment`: "prod", "staging", "ci" or "dev".
  Collections(client::Firestore database, std::string environment)
      : database_(std::move(database)), environment_(std::move(environment)) {}

  const client::Firestore& database() const { return database_; }
  client::CollectionReference stories() const {
    return database_.Collection(environment_ + "-stories");
  }
  client::CollectionReference users() const {
    return database_.Collection(environment_ + "-users");
  }
  client::CollectionReference cache() const {
    return database_.Collection(environment_ + "-cache");
  }
  // Sessions that were ended before they expired, by their id.
  client::CollectionReference ended_sessions() const {
    return database_.Collection(environment_ + "-ended-sessions");
  }
  client::CollectionReference hidden(const std::string& username) const {
    return users().Doc(username).Collection("hidden");
  }

 private:
  client::Firestore database_;
  std::string environment_;
};

}  // namespace hearth::hackernews
