#include "wire/listen.h"

#include <set>
#include <utility>

#include "base/status_macros.h"
#include "model/wire_format.h"
#include "wire/message_parts.h"
#include "wire/query_requests.h"
#include "wire/responses.h"

namespace hearth::wire {
namespace {

using model::AppendBytes;
using model::AppendVarint;
using request::TargetEvent;
using request::TargetIds;
using request::TargetRequest;

// Packed, as protobuf encodes repeated numbers.
void AppendTargetIds(uint32_t field_number, const TargetIds& ids, std::string* out) {
  if (ids.empty()) return;
  std::string packed;
  for (const request::TargetId id : ids) AppendVarint(static_cast<uint64_t>(id), &packed);
  AppendBytes(BytesTag(field_number), packed, out);
}

std::string Wrap(uint32_t field_number, std::string_view message) {
  std::string bytes;
  AppendBytes(BytesTag(field_number), message, &bytes);
  return bytes;
}

std::string NameOf(const model::DatabaseName& database, std::string_view path) {
  return (database.text() + "/documents/").append(path);
}

Result<TargetRequest> ReadQueryTarget(const model::DatabaseName& database,
                                      const proto::Target::QueryTarget& target) {
  ASSIGN_OR_RETURN(const model::ParentName parent, model::ParentName::Parse(target.parent()));
  RETURN_IF_ERROR(CheckSameDatabase(database, parent.database));
  ASSIGN_OR_RETURN(query::Query query, ReadQuery(parent, target.structured_query()));
  if (query.nearest) {
    return InvalidArgument("Queries for nearest neighbors cannot be listened to.");
  }
  TargetRequest request;
  request.mask = std::exchange(query.select, std::nullopt);
  ASSIGN_OR_RETURN(request.target, query::Normalize(std::move(query)));
  return request;
}

Result<TargetRequest> ReadDocumentsTarget(const model::DatabaseName& database,
                                          const proto::Target::DocumentsTarget& target) {
  std::vector<model::DocumentPath> documents;
  std::set<std::string_view> seen;
  for (const std::string& text : target.documents()) {
    if (!seen.insert(text).second) continue;
    ASSIGN_OR_RETURN(model::DocumentName name, model::DocumentName::Parse(text));
    RETURN_IF_ERROR(CheckSameDatabase(database, name.database));
    documents.push_back(std::move(name.path));
  }
  TargetRequest request;
  request.target = std::move(documents);
  return request;
}

}  // namespace

Result<TargetRequest> ReadTarget(const model::DatabaseName& database, const proto::Target& target) {
  if (!target.has_query() && !target.has_documents()) {
    return InvalidArgument("A target must have a query or documents.");
  }
  ASSIGN_OR_RETURN(TargetRequest request, target.has_query()
                                              ? ReadQueryTarget(database, target.query())
                                              : ReadDocumentsTarget(database, target.documents()));
  request.once = target.once();
  if (!target.resume_token().empty()) {
    request.resume = TargetRequest::Resume{target.resume_token()};
  } else if (target.has_read_time()) {
    // Bundles have times of any precision; an earlier moment is equally valid.
    ASSIGN_OR_RETURN(
        const model::Timestamp read_time,
        model::Timestamp::FromParts(target.read_time().seconds(), target.read_time().nanos()));
    request.resume = TargetRequest::Resume{read_time};
  }
  // Zero counts too: a client that has lost its documents must learn that there are some.
  if (request.resume && target.has_expected_count() && target.expected_count().value() >= 0) {
    request.resume->expected_count = static_cast<size_t>(target.expected_count().value());
  }
  return request;
}

std::string EncodeTargetChange(const TargetEvent& event) {
  std::string bytes;
  AppendNumber(1, static_cast<int64_t>(event.kind), &bytes);
  AppendTargetIds(2, event.targets, &bytes);
  if (!event.cause.ok()) AppendBytes(BytesTag(3), EncodeStatus(event.cause), &bytes);
  if (!event.resume_token.empty()) AppendBytes(BytesTag(4), event.resume_token, &bytes);
  if (event.read_time) AppendBytes(BytesTag(6), EncodeTime(*event.read_time), &bytes);
  return Wrap(2, bytes);
}

std::string EncodeDocumentChange(const model::DatabaseName& database,
                                 const request::DocumentEvent& event) {
  std::string bytes;
  AppendBytes(BytesTag(1),
              EncodeDocument(NameOf(database, event.path.path()), *event.record, event.mask),
              &bytes);
  AppendTargetIds(5, event.targets, &bytes);
  AppendTargetIds(6, event.removed, &bytes);
  return Wrap(3, bytes);
}

std::string EncodeDocumentGone(const model::DatabaseName& database,
                               const request::DocumentGoneEvent& event) {
  const bool is_deleted = event.reason == request::DocumentGoneEvent::Reason::kDeleted;
  std::string bytes;
  AppendBytes(BytesTag(1), NameOf(database, event.path), &bytes);
  AppendTargetIds(is_deleted ? 6 : 2, event.removed, &bytes);
  AppendBytes(BytesTag(4), EncodeTime(event.read_time), &bytes);
  return Wrap(is_deleted ? 4 : 6, bytes);
}

std::string EncodeExistenceFilter(const request::ExistenceFilterEvent& event) {
  std::string bits;
  AppendBytes(BytesTag(1), event.unchanged_names.bitmap, &bits);
  AppendNumber(2, event.unchanged_names.padding, &bits);
  std::string names = Wrap(1, bits);
  AppendNumber(2, event.unchanged_names.hash_count, &names);
  std::string bytes;
  AppendNumber(1, event.target, &bytes);
  AppendNumber(2, static_cast<int64_t>(event.count), &bytes);
  AppendBytes(BytesTag(3), names, &bytes);
  return Wrap(5, bytes);
}

std::string EncodeWriteHandshake(std::string_view stream_id, std::string_view stream_token) {
  std::string bytes;
  AppendBytes(BytesTag(1), stream_id, &bytes);
  AppendBytes(BytesTag(2), stream_token, &bytes);
  return bytes;
}

std::string EncodeWriteResponse(std::string_view stream_token,
                                const request::CommitResult& result) {
  std::string bytes = EncodeEmptyWriteResponse(stream_token);
  for (const request::WriteResult& each : result.write_results) {
    AppendBytes(BytesTag(3), EncodeWriteResult(each), &bytes);
  }
  AppendBytes(BytesTag(4), EncodeTime(result.commit_time), &bytes);
  return bytes;
}

std::string EncodeEmptyWriteResponse(std::string_view stream_token) {
  return Wrap(2, stream_token);
}

}  // namespace hearth::wire
