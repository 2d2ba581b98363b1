// Protobuf messages to the C++ client's types and back.
//
// Errors: InvalidArgument, with the reason, for what the client's API cannot express.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cases/runner/operation.h"
#include "client/firestore.h"
#include "google/firestore/v1/firestore.pb.h"

namespace hearth::cases {

Result<client::Value> ToClient(const proto::Value& value);
proto::Value ToProto(const client::Value& value);
Result<client::Timestamp> ToClient(const Time& time);
Time ToProto(client::Timestamp time);
proto::Document ToProto(const client::DocumentSnapshot& snapshot);

// "rooms/a" of a name in `database`.
Result<std::string> ToClientPath(const std::string& database, const std::string& name);

// "rooms/a/seats" of a parent's name and a collection's id.
Result<std::string> ToClientCollection(const std::string& database, const std::string& parent,
                                       const std::string& id);

// A write as a program would make it.
struct ClientWrite {
  enum class Kind : uint8_t { kCreate, kSet, kUpdate, kDelete };
  Kind kind = Kind::kSet;
  std::string path = {};
  client::Map data = {};
  client::SetOptions options = {};
  client::Precondition precondition = {};
};
Result<ClientWrite> ToClient(const std::string& database, const proto::Write& write);

// Adds it to a batch, or to a transaction.
template <typename Target>
void AddTo(const client::Firestore& database, const ClientWrite& write, Target* target) {
  const client::DocumentReference document = database.Doc(write.path);
  switch (write.kind) {
    case ClientWrite::Kind::kCreate:
      target->Create(document, write.data);
      break;
    case ClientWrite::Kind::kSet:
      target->Set(document, write.data, write.options);
      break;
    case ClientWrite::Kind::kUpdate:
      target->Update(document, write.data, write.precondition);
      break;
    case ClientWrite::Kind::kDelete:
      target->Delete(document, write.precondition);
      break;
  }
}

enum class Last : uint8_t { kNo, kYes };  // Whether the limit is for the last results.
Result<client::Query> ToClient(const client::Firestore& database, const std::string& parent,
                               const proto::StructuredQuery& query, Last last);
Result<std::vector<client::AggregateField>> ToClient(
    const proto::StructuredAggregationQuery& aggregate);

}  // namespace hearth::cases
