#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "access/access_policy.h"
#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/random.h"
#include "base/status.h"
#include "engine/engine.h"
#include "http/exchange.h"
#include "rpc/call.h"
#include "rpc/methods.h"
#include "service/databases.h"
#include "service/waiting_queries.h"
#include "service/write_streams.h"
#include "wire/requests.h"

namespace hearth::service {

// A message may be sent at any time; a producer of many pauses after this many bytes.
inline constexpr size_t kUnwaitedBytesMax = http::kSendBufferLowBytes;

// Answers with more results than this are encoded off the loop.
inline constexpr size_t kLoopResultsMax = 1'000;
// Longer documents are projected to a mask off the loop.
inline constexpr size_t kLoopMaskedBytesMax = 64 * 1024;
// Whether the document, if there is one, can be answered on the loop: a mask is work that grows
// with it.
inline bool IsQuickToEncode(const model::Record& document, const wire::ReadMask& mask) {
  return !mask || !document || document->size() <= kLoopMaskedBytesMax;
}

// The same consistency; for a transaction's, on behalf of the client that made the call.
request::Consistency ForClientOf(const rpc::Call& call, request::Consistency consistency);

ClientKey KeyOf(const rpc::Call& call);
// Reads on behalf of the call, until it has ended.
engine::Caller CallerOf(const std::shared_ptr<rpc::Call>& call);
// Requests up to this size need no claim of their own: counting them would cost more than they use.
inline constexpr size_t kUnclaimedRequestBytesMax = 1024;
// Claims the memory for what a call keeps of its request. ResourceExhausted if there is none.
Status ClaimKept(size_t bytes, MemoryClaim* claim);

// Whether the client leaves its answers unread, so that nothing should be computed for it now.
bool IsBehind(const rpc::Call& call);

// google.firestore.v1.Firestore, for all doors: requests in, the engine's answers out.
//
// Threads: methods run on the server's loops, several at once, and never block them; those with
// long requests run elsewhere. Ownership: borrows the engine, the policy, the clock, the random
// source and the memory budget, which must outlive every call.
class FirestoreMethods {
 public:
  // `memory`: for long requests while they are read, and for what is kept between calls; null:
  // unlimited.
  FirestoreMethods(engine::Engine& engine, const access::AccessPolicy& policy, const Clock& clock,
                   RandomSource& random, MemoryBudget* memory = nullptr)
      : engine_(engine),
        databases_(engine, policy),
        clock_(clock),
        memory_(memory),
        waiting_queries_(std::make_shared<WaitingQueries>(clock)),
        write_streams_(clock, random, memory) {}

  // Adds the methods to `methods`, which must not outlive this object.
  void Register(rpc::Methods* methods);

 private:
  using Call = std::shared_ptr<rpc::Call>;

  void GetDocument(const Call& call, std::string_view request);
  void BatchGetDocuments(const Call& call, std::string_view request);
  void ListDocuments(const Call& call, std::string_view request);
  void ListCollectionIds(const Call& call, std::string_view request);
  void RunQuery(const Call& call, std::string_view request);
  void RunAggregationQuery(const Call& call, std::string_view request);
  void PartitionQuery(const Call& call, std::string_view request);
  // Always rejected, as in Firestore's Standard edition.
  void ExecutePipeline(const Call& call, std::string_view request);
  void CreateDocument(const Call& call, std::string_view request);
  void UpdateDocument(const Call& call, std::string_view request);
  void DeleteDocument(const Call& call, std::string_view request);
  void Commit(const Call& call, std::string_view request);
  void BatchWrite(const Call& call, std::string_view request);
  void BeginTransaction(const Call& call, std::string_view request);
  void Rollback(const Call& call, std::string_view request);
  std::unique_ptr<rpc::Receiver> Listen(const Call& call);
  std::unique_ptr<rpc::Receiver> Write(const Call& call);

  // Runs `task` where it may wait for the disk, once the client has read enough of its earlier
  // answers. Ends the call if too much waits already.
  void RunOnReaders(const Call& call, Task task);
  // Runs `task`, at once or on a reader, when the client has read enough of its earlier answers.
  void WhenRead(const Call& call, Task task);
  // Opens a view and runs `use` with it on a reader. The call ends at once if too many reads wait,
  // and later if there can be no view.
  void ReadOnReaders(const Call& call, const documents::Database& database,
                     request::Consistency consistency, engine::ReadScope scope,
                     Callback<void(std::unique_ptr<engine::ReadView>)> use);

  engine::Engine& engine_;
  const Databases databases_;
  const Clock& clock_;
  MemoryBudget* const memory_;
  const std::shared_ptr<WaitingQueries> waiting_queries_;  // Shared with the queries.
  WriteStreams write_streams_;
};

}  // namespace hearth::service
