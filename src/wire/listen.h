// The Listen and Write streams of google.firestore.v1.Firestore, to and from our own types.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "google/firestore/v1/firestore.pb.h"
#include "model/names.h"
#include "request/listen.h"
#include "request/write.h"
#include "wire/requests.h"

namespace hearth::wire {

// The contents of a target of `database`. InvalidArgument, in Firestore's words, for every possible
// client error.
Result<request::TargetRequest> ReadTarget(const model::DatabaseName& database,
                                          const proto::Target& target);

// The forms of ListenResponse.
std::string EncodeTargetChange(const request::TargetEvent& event);
std::string EncodeDocumentChange(const model::DatabaseName& database,
                                 const request::DocumentEvent& event);
std::string EncodeDocumentGone(const model::DatabaseName& database,
                               const request::DocumentGoneEvent& event);
std::string EncodeExistenceFilter(const request::ExistenceFilterEvent& event);

// WriteResponse: for the handshake, for writes, and for a request without any.
std::string EncodeWriteHandshake(std::string_view stream_id, std::string_view stream_token);
std::string EncodeWriteResponse(std::string_view stream_token, const request::CommitResult& result);
std::string EncodeEmptyWriteResponse(std::string_view stream_token);

}  // namespace hearth::wire
