#pragma once

#include <memory>

#include "access/access_policy.h"
#include "engine/engine.h"
#include "http/exchange.h"
#include "http/plain.h"

namespace hearth::doors::control {

// Requests of the official emulator that are not part of Firestore's API:
//
//   DELETE  /emulator/v1/projects/P/databases/D/documents        deletes all documents
//   DELETE  /emulator/v1/projects/P/databases/D/documents/PATH   deletes a document or a collection
//                                                                and everything below it
//
// The answer is an empty object, even if there was nothing to delete. Pages of every origin that
// the server admits may send it (`http/cors.h`), because tests run in browsers too.
//
// Threads: safe for concurrent use; never blocks a loop. Ownership: borrows the engine and the
// policy, which must outlive every call. Errors: Google's JSON; Aborted (409) if a transaction does
// not release its locks. Other paths and methods are not found (404), as in the emulator.
class EmulatorService final : public http::Service {
 public:
  EmulatorService(engine::Engine& engine, const access::AccessPolicy& policy);

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

 private:
  const http::PlainHandler handler_;
};

}  // namespace hearth::doors::control
