// The contents of the documents of a stress run, and how to read them back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "support/firestore_client.h"

namespace hearth::stress {

using support::FirestoreClient;
namespace proto = support::proto;

enum class Time : int64_t {};  // Microseconds since the epoch.

// The size of a document's payload.
enum class Weight : uint8_t { kLight, kMedium, kHeavy, kBulk };
inline constexpr size_t kBulkBytes = 256 * 1024;

// A number that is unique to each write attempt. It determines the document's payload, so that a
// document mixed from two writes is detected.
enum class Stamp : int64_t {};
Stamp MakeStamp(int64_t number, Weight weight);
size_t PayloadBytes(Stamp stamp);

struct Content {
  Stamp stamp{};
  int64_t count = 0;

  friend bool operator==(const Content&, const Content&) = default;
};

// A document as the server returned it.
struct Seen {
  Content content;
  Time update_time{};

  friend bool operator==(const Seen&, const Seen&) = default;
};
using State = std::optional<Seen>;  // Absent: there is no document.
std::string ToString(const State& state);

// Documents at one moment, by path.
struct World {
  Time read_time{};
  std::map<std::string, State> documents;

  const State& at(const std::string& path) const { return documents.at(path); }
};

Time TimeOf(const google::protobuf::Timestamp& timestamp);
void SetTime(Time time, google::protobuf::Timestamp* timestamp);

// Adds a write that sets the document to exactly `content`.
proto::Write* AddSet(const std::string& path, const Content& content,
                     proto::CommitRequest* request);
proto::Write* AddDelete(const std::string& path, proto::CommitRequest* request);
// Adds `amount` to the document's count.
void AddIncrement(int64_t amount, proto::Write* write);

// DataLoss if no single write can have produced the document.
Result<Seen> Decode(const proto::Document& document);

proto::CommitRequest NewCommit();
// The documents at `read_time`, or now.
proto::BatchGetDocumentsRequest NewBatchGet(const std::vector<std::string>& paths,
                                            std::optional<Time> read_time = std::nullopt);
Result<World> DecodeWorld(const std::vector<proto::BatchGetDocumentsResponse>& responses);
Result<World> ReadWorld(FirestoreClient& client, const std::vector<std::string>& paths,
                        std::optional<Time> read_time = std::nullopt);

// Everything in `collection` at `read_time`, found by listing.
Result<std::map<std::string, State>> ListCollection(FirestoreClient& client,
                                                    const std::string& collection, Time read_time);

Status DataLoss(const std::string& message);

}  // namespace hearth::stress
