#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/access_policy.h"
#include "base/metrics.h"
#include "base/status.h"
#include "engine/engine.h"
#include "http/exchange.h"
#include "http/plain.h"

namespace hearth::doors::control {

inline constexpr size_t kControlBodyBytesMax = 64 * 1024;

// The operators' interface of a running server, in JSON over HTTP: databases, indexes, TTL
// policies, metrics.
//
//   GET     /metrics
//   GET     /hearth/v1/databases
//   GET     /hearth/v1/projects/P/databases/D
//   DELETE  /hearth/v1/projects/P/databases/D
//   GET     /hearth/v1/projects/P/databases/D/indexes
//   GET     /hearth/v1/projects/P/databases/D/indexes:needed
//   GET     /hearth/v1/projects/P/databases/D/ttlPolicies
//   PUT     /hearth/v1/projects/P/databases/D/ttlPolicies/COLLECTION
//           {"field": "createdAt", "offset": "2d"}
//   DELETE  /hearth/v1/projects/P/databases/D/ttlPolicies/COLLECTION
//
// Every request needs the administrator's token: the answers tell about all databases, and so do
// the metrics.
//
// Threads: safe for concurrent use; never blocks a loop. Ownership: borrows what the constructor is
// given, which must outlive every call. Errors: Google's JSON.
class ControlService final : public http::Service {
 public:
  // `metrics`: the source of GET /metrics.
  ControlService(engine::Engine& engine, const access::AccessPolicy& policy, Metrics& metrics);

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

  // The answer to one request. May wait for the disk.
  http::PlainAnswer Answer(const http::RequestHead& head, std::string_view body);

 private:
  using Parts = std::vector<std::string>;

  http::PlainAnswer AnswerDatabases() const;
  // `rest`: the path after the database's name.
  Result<http::PlainAnswer> AnswerOfDatabase(const http::RequestHead& head, std::string_view body,
                                             const model::DatabaseName& name, const Parts& rest);
  Result<documents::ConstDatabaseHandle> Find(const model::DatabaseName& name) const;
  Result<http::PlainAnswer> DeleteDatabase(const model::DatabaseName& name);
  Result<http::PlainAnswer> ListIndexes(const model::DatabaseName& name) const;
  Result<http::PlainAnswer> PrintNeededIndexes(const model::DatabaseName& name) const;
  Result<http::PlainAnswer> ListTtlPolicies(const model::DatabaseName& name) const;
  Result<http::PlainAnswer> SetTtlPolicy(const model::DatabaseName& name,
                                         const std::string& collection, std::string_view body);
  Result<http::PlainAnswer> ClearTtlPolicy(const model::DatabaseName& name,
                                           const std::string& collection);
  // The current policy of one collection group; an empty object if there is none.
  http::PlainAnswer TtlPolicyAnswer(const documents::Database& database,
                                    const std::string& collection) const;

  engine::Engine& engine_;
  const access::AccessPolicy& policy_;
  Metrics& metrics_;
  const http::PlainHandler handler_;
};

}  // namespace hearth::doors::control
