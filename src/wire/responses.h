// Answers of google.firestore.v1.Firestore as protobuf bytes. Documents are sent as they are
// stored: their fields are copied, not converted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/field_path.h"
#include "model/names.h"
#include "model/timestamp.h"
#include "request/listing.h"
#include "request/write.h"

namespace hearth::wire {

// The fields a client wants to see; nullopt: all of them.
using ReadMask = std::optional<std::vector<model::FieldPath>>;

// google.firestore.v1.Document. `name` is the document's full name.
std::string EncodeDocument(std::string_view name, std::string_view record, const ReadMask& mask);

// google.rpc.Status, and WriteResult.
std::string EncodeStatus(const Status& status);
std::string EncodeWriteResult(const request::WriteResult& result);

// The three forms of BatchGetDocumentsResponse.
std::string EncodeFound(std::string_view name, std::string_view record, const ReadMask& mask,
                        model::Timestamp read_time);
std::string EncodeMissing(std::string_view name, model::Timestamp read_time);
std::string EncodeNewTransaction(std::string_view transaction);

// BeginTransactionResponse.
std::string EncodeBeginTransaction(std::string_view transaction);

// CommitResponse.
std::string EncodeCommit(const request::CommitResult& result);

// BatchWriteResponse: the outcome of each write.
std::string EncodeBatchWrite(const std::vector<Result<request::CommitResult>>& outcomes);

// ListDocumentsResponse.
std::string EncodeDocumentPage(const model::DatabaseName& database,
                               const request::DocumentPage& page, const ReadMask& mask);

// ListCollectionIdsResponse.
std::string EncodeCollectionIdPage(const request::CollectionIdPage& page);

}  // namespace hearth::wire
