// Requests of google.firestore.v1.Firestore, from protobuf to our own types.
//
// Errors: InvalidArgument, in Firestore's words, for every possible client error.
#pragma once

#include <google/protobuf/message_lite.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/status_macros.h"
#include "google/firestore/v1/common.pb.h"
#include "google/firestore/v1/document.pb.h"
#include "google/firestore/v1/firestore.pb.h"
#include "google/firestore/v1/write.pb.h"
#include "model/names.h"
#include "request/consistency.h"
#include "request/transaction_options.h"
#include "request/write.h"
#include "wire/responses.h"

namespace hearth::wire {

namespace proto = ::google::firestore::v1;

// libprotobuf logs many client errors to standard error; the client gets the error, and the log
// does not need it. Call it once, at start-up.
void SilenceProtobufLog();

// Fills `message` from a request's bytes.
Status ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message);

Result<std::vector<model::FieldPath>> ReadFieldPaths(const proto::DocumentMask& mask);
Result<model::Timestamp> ReadTime(const google::protobuf::Timestamp& time);
Result<request::Precondition> ReadPrecondition(const proto::Precondition& precondition);
// `default_mode`: the mode of a request that specifies neither read-only nor read-write.
Result<request::TransactionOptions> ReadTransactionOptions(
    const proto::TransactionOptions& options, request::TransactionOptions::Mode default_mode);

// The canonical encoding of a standalone value, as in a filter or a cursor.
Result<std::string> ReadValue(const proto::Value& value);

// The fields of `document`. Moves its contents.
Result<model::Fields> ReadFields(proto::Document* document);

// One write to a document of `database`. Moves its contents.
Result<request::Write> ReadWrite(const model::DatabaseName& database, proto::Write* write);
Result<std::vector<request::Write>> ReadWrites(
    const model::DatabaseName& database, google::protobuf::RepeatedPtrField<proto::Write>* writes);

// InvalidArgument unless `name` is in `database`.
Status CheckSameDatabase(const model::DatabaseName& database, const model::DatabaseName& name);

// The mask of a request, if it has one.
template <typename Request>
Result<ReadMask> ReadMaskOf(const Request& request) {
  if (!request.has_mask()) return ReadMask();
  ASSIGN_OR_RETURN(std::vector<model::FieldPath> paths, ReadFieldPaths(request.mask()));
  return ReadMask(std::move(paths));
}

// The consistency of a request with a `transaction` or a `read_time`.
template <typename Request>
Result<request::Consistency> ReadConsistency(const Request& request) {
  request::Consistency consistency = request::Now{};
  if (request.has_transaction()) {
    consistency = request::InTransaction{request.transaction()};
  } else if (request.has_read_time()) {
    ASSIGN_OR_RETURN(consistency, ReadTime(request.read_time()));
  }
  return consistency;
}

// The same for a request that may also start a transaction by reading.
template <typename Request>
Result<request::Consistency> ReadConsistencyOrBegin(const Request& request) {
  if (!request.has_new_transaction()) return ReadConsistency(request);
  ASSIGN_OR_RETURN(request::TransactionOptions options,
                   ReadTransactionOptions(request.new_transaction(),
                                          request::TransactionOptions::Mode::kReadOnly));
  return request::NewTransaction{std::move(options)};
}

}  // namespace hearth::wire
