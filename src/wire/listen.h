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

// What a target of `database` asks for. InvalidArgument, in Firestore's words, for everything that
// a client can get wrong.
Result<request::TargetRequest> ReadTarget(const model::DatabaseName& database,
                                          const proto::Target& target);

// ListenResponse, in its forms.
std::string EncodeTargetChange(const request::TargetEvent& event);
std::string EncodeDocumentChange(const model::DatabaseName& database,
                                 const request::DocumentEvent& event);
std::string EncodeDocumentGone(const model::DatabaseName& database,
                               const request::DocumentGoneEvent& event);
std::string EncodeExistenceFilter(const request::ExistenceFilterEvent& event);

// WriteResponse: of the handshake, of writes, and of a request without any.
std::string EncodeWriteHandshake(std::string_view stream_id, std::string_view stream_token);
std::string EncodeWriteResponse(std::string_view stream_token, const request::CommitResult& result);
std::string EncodeEmptyWriteResponse(std::string_view stream_token);

}  // namespace hearth::wire
