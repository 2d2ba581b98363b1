#pragma once

#include <memory>
#include <string>
#include <variant>

#include "base/connected_client.h"
#include "model/timestamp.h"
#include "request/transaction_options.h"

namespace hearth::request {

// The client that makes a request; null: this process itself.
using Client = std::shared_ptr<const ConnectedClient>;

inline ClientKey KeyOf(const Client& client) {
  return client ? client->key() : ClientKey::kInternal;
}

// The newest state.
struct Now {};

struct InTransaction {
  std::string id;
  Client client = nullptr;
};

// Begins a transaction and reads in it.
struct NewTransaction {
  TransactionOptions options;
  Client client = nullptr;
};

// The moment at which to read.
using Consistency = std::variant<Now, model::Timestamp, InTransaction, NewTransaction>;

}  // namespace hearth::request
