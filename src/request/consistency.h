#pragma once

#include <memory>
#include <string>
#include <variant>

#include "base/client_presence.h"
#include "model/timestamp.h"
#include "request/transaction_options.h"

namespace hearth::request {

// Whether the client of a transaction is still connected; null if that is unknown.
using Client = std::shared_ptr<const ClientPresence>;

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
