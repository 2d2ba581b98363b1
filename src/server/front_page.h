#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "http/exchange.h"
#include "http/router.h"
#include "kit/web/app_service.h"
#include "kit/web/routes.h"
#include "server/app_host.h"

namespace hearth::server {

// The page for browsers at "/", and its data at "/hearth/front", which strangers can read: how to
// connect, and which applications run. Other clients get "Ok" at "/": the SDKs' tools and health
// checks use it to see whether the server is up.
//
// Threads: as for Service; set_address from any thread. Ownership: borrows the constructor's
// arguments. The destructor waits for requests in progress: destroy it after the server is drained
// and before the applications stop.
class FrontPage final : public http::Service {
 public:
  // `project`: that of the applications.
  FrontPage(AppHost& apps, const Clock& clock, Metrics& metrics, std::string project);
  ~FrontPage() override;

  void Mount(http::Router* router);
  // HOST:PORT for SDKs, known once the server listens.
  void set_address(std::string address) EXCLUDES_LOCK(mutex_);

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

  nlohmann::json Data() EXCLUDES_LOCK(mutex_);

 private:
  AppHost& apps_;
  const std::string project_;
  kit::Routes routes_;
  Mutex mutex_;  // Leaf lock.
  std::string address_ GUARDED_BY(mutex_);
  kit::AppService pages_;  // Last: its threads use the rest.
};

}  // namespace hearth::server
