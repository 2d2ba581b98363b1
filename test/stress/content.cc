#include "stress/content.h"

#include <array>
#include <utility>

#include "base/status_macros.h"

namespace hearth::stress {
namespace {

constexpr std::array<size_t, 4> kPayloadBytes = {24, 1024, 16 * 1024, kBulkBytes};
constexpr int32_t kPageSize = 7;  // Small, so that listings have several pages.

// Bytes that do not compress, so that they fill buffers and files.
std::string Payload(Stamp stamp) {
  std::string bytes(PayloadBytes(stamp), '\0');
  uint64_t state = static_cast<uint64_t>(stamp) * 0x9E3779B97F4A7C15u | 1;
  for (char& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<char>(state);
  }
  return bytes;
}

}  // namespace

Stamp MakeStamp(int64_t number, Weight weight) {
  return Stamp{number * static_cast<int64_t>(kPayloadBytes.size()) + static_cast<int64_t>(weight)};
}

size_t PayloadBytes(Stamp stamp) {
  return kPayloadBytes[static_cast<size_t>(stamp) % kPayloadBytes.size()];
}

std::string ToString(const State& state) {
  if (!state) return "absent";
  return "stamp " + std::to_string(static_cast<int64_t>(state->content.stamp)) + " count " +
         std::to_string(state->content.count) + " at " +
         std::to_string(static_cast<int64_t>(state->update_time));
}

Time TimeOf(const google::protobuf::Timestamp& timestamp) {
  return Time{timestamp.seconds() * 1'000'000 + timestamp.nanos() / 1'000};
}

void SetTime(Time time, google::protobuf::Timestamp* timestamp) {
  const auto micros = static_cast<int64_t>(time);
  timestamp->set_seconds(micros / 1'000'000);
  timestamp->set_nanos(static_cast<int32_t>(micros % 1'000'000 * 1'000));
}

proto::Write* AddSet(const std::string& path, const Content& content,
                     proto::CommitRequest* request) {
  proto::Write* write = request->add_writes();
  write->mutable_update()->set_name(support::FullName(path));
  auto& fields = *write->mutable_update()->mutable_fields();
  fields["stamp"].set_integer_value(static_cast<int64_t>(content.stamp));
  fields["count"].set_integer_value(content.count);
  fields["payload"].set_bytes_value(Payload(content.stamp));
  return write;
}

proto::Write* AddDelete(const std::string& path, proto::CommitRequest* request) {
  proto::Write* write = request->add_writes();
  write->set_delete_(support::FullName(path));
  return write;
}

void AddIncrement(int64_t amount, proto::Write* write) {
  auto* transform = write->add_update_transforms();
  transform->set_field_path("count");
  transform->mutable_increment()->set_integer_value(amount);
}

Result<Seen> Decode(const proto::Document& document) {
  const auto& fields = document.fields();
  const auto stamp = fields.find("stamp");
  const auto count = fields.find("count");
  const auto payload = fields.find("payload");
  if (stamp == fields.end() || count == fields.end() || payload == fields.end()) {
    return DataLoss(document.name() + " lacks fields");
  }
  Seen seen;
  seen.content = {Stamp{stamp->second.integer_value()}, count->second.integer_value()};
  seen.update_time = TimeOf(document.update_time());
  if (payload->second.bytes_value() != Payload(seen.content.stamp)) {
    return DataLoss(document.name() +
                    " has a payload that does not belong to its stamp: " + ToString(seen));
  }
  if (TimeOf(document.create_time()) > seen.update_time) {
    return DataLoss(document.name() + " was updated before it was made");
  }
  return seen;
}

proto::CommitRequest NewCommit() {
  proto::CommitRequest request;
  request.set_database(support::kDatabase);
  return request;
}

proto::BatchGetDocumentsRequest NewBatchGet(const std::vector<std::string>& paths,
                                            std::optional<Time> read_time) {
  proto::BatchGetDocumentsRequest request;
  request.set_database(support::kDatabase);
  for (const std::string& path : paths) request.add_documents(support::FullName(path));
  if (read_time) SetTime(*read_time, request.mutable_read_time());
  return request;
}

Result<World> DecodeWorld(const std::vector<proto::BatchGetDocumentsResponse>& responses) {
  World world;
  for (const proto::BatchGetDocumentsResponse& response : responses) {
    if (response.has_read_time()) world.read_time = TimeOf(response.read_time());
    if (response.has_found()) {
      ASSIGN_OR_RETURN(const Seen seen, Decode(response.found()));
      world.documents[support::PathOf(response.found().name())] = seen;
    } else if (response.result_case() == proto::BatchGetDocumentsResponse::kMissing) {
      world.documents[support::PathOf(response.missing())] = std::nullopt;
    }
  }
  return world;
}

Result<World> ReadWorld(FirestoreClient& client, const std::vector<std::string>& paths,
                        std::optional<Time> read_time) {
  ASSIGN_OR_RETURN(const std::vector<proto::BatchGetDocumentsResponse> responses,
                   client.BatchGet(NewBatchGet(paths, read_time)));
  ASSIGN_OR_RETURN(World world, DecodeWorld(responses));
  if (world.documents.size() != paths.size()) {
    return DataLoss("a BatchGetDocuments of " + std::to_string(paths.size()) +
                    " documents answered " + std::to_string(world.documents.size()));
  }
  return world;
}

Result<std::map<std::string, State>> ListCollection(FirestoreClient& client,
                                                    const std::string& collection, Time read_time) {
  std::map<std::string, State> found;
  proto::ListDocumentsRequest request;
  request.set_parent(std::string(support::kDatabase) + "/documents");
  request.set_collection_id(collection);
  request.set_page_size(kPageSize);
  SetTime(read_time, request.mutable_read_time());
  do {
    ASSIGN_OR_RETURN(const proto::ListDocumentsResponse page, client.List(request));
    for (const proto::Document& document : page.documents()) {
      ASSIGN_OR_RETURN(const Seen seen, Decode(document));
      if (!found.emplace(support::PathOf(document.name()), seen).second) {
        return DataLoss(document.name() + " is listed twice");
      }
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return found;
}

Status DataLoss(const std::string& message) { return Status(Code::kDataLoss, message); }

}  // namespace hearth::stress
