#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "client/remote/grpc_channel.h"
#include "client/transport.h"
#include "model/names.h"

namespace google::protobuf {
class MessageLite;
}

namespace hearth::client {

// A database behind google.firestore.v1.Firestore, by gRPC.
//
// If the server cannot be reached, calls that change nothing are retried after a pause that
// doubles. Commits are retried only if nothing of them was sent.
// Threads: safe for concurrent use. Errors: those of the server and of GrpcChannel.
class RemoteTransport final : public Transport {
 public:
  struct Options {
    model::DatabaseName database;
    GrpcChannelOptions channel;
    size_t attempts_max = 5;
    // The authorization header's value; called before each call.
    std::function<Result<std::string>()> authorization;
    // Waits between attempts.
    std::function<void(std::chrono::milliseconds)> pause;
  };
  static constexpr std::chrono::milliseconds kFirstPause{100};
  static constexpr std::chrono::milliseconds kPauseMax{5'000};

  explicit RemoteTransport(Options options);

  const model::DatabaseName& database() const override { return options_.database; }
  std::string NewDocumentId() override;

  Result<Documents> Get(const std::vector<model::DocumentPath>& paths,
                        const std::optional<std::vector<model::FieldPath>>& mask,
                        const ReadMoment& moment) override;
  Result<model::Timestamp> Query(const query::Query& query, const ReadMoment& moment,
                                 const OnResult& on_result) override;
  Result<Aggregates> Aggregate(const query::Query& query,
                               const std::vector<query::Aggregation>& aggregations,
                               const ReadMoment& moment) override;
  Result<TransportCommit> Commit(std::vector<request::Write> writes,
                                 const std::string& transaction) override;
  Result<std::vector<Result<TransportWriteResult>>> BatchWrite(
      std::vector<request::Write> writes) override;
  Result<std::string> BeginTransaction(const BeginOptions& options) override;
  Status Rollback(const std::string& transaction) override;
  Result<std::vector<std::string>> ListCollectionIds(
      const std::string& parent_document_path) override;
  Result<std::vector<model::DocumentPath>> ListDocumentPaths(
      const model::CollectionPath& collection) override;
  // Unimplemented.
  Result<std::unique_ptr<TransportListener>> Listen(ListenTarget target, OnState on_state) override;

 private:
  enum class Repeat : uint8_t {
    kIfUnanswered,  // The call changes nothing.
    kIfUnsent,
  };
  // Returns an error to end the call with it, false to end it without one.
  using OnAnswer = std::function<Result<bool>(std::string_view message)>;

  Status CallStream(std::string_view method, std::string message, Repeat repeat,
                    const OnAnswer& on_answer);
  Status CallUnary(std::string_view method, std::string message, Repeat repeat,
                   google::protobuf::MessageLite* response);
  GrpcOutcome CallOnce(GrpcRequest* request, const OnAnswer& on_answer, bool* was_answered);
  Result<std::string> EncodeWrites(const std::vector<request::Write>& writes) const;

  const Options options_;
  GrpcChannel channel_;
  RandomSource random_;
};

}  // namespace hearth::client
