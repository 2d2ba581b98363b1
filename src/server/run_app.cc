#include "server/run_app.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "access/access_policy.h"
#include "access/admin_token.h"
#include "apps/sandbox/sandbox.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "client/remote/remote.h"
#include "http/router.h"
#include "http/server.h"
#include "server/app_host.h"
#include "server/apps.h"
#include "server/commands.h"
#include "server/machine_memory.h"
#include "server/serve.h"
#include "server/signals.h"
#include "wire/requests.h"

namespace hearth::server {
namespace {

void NothingToReload() {}

}  // namespace

Status RunApp(const RunAppOptions& options) {
  ASSIGN_OR_RETURN(const LogLevel log_level, ParseLogLevel(options.log_level));
  ASSIGN_OR_RETURN(const LogFormat log_format, ParseLogFormat(options.log_format));
  ASSIGN_OR_RETURN(const AppEntry app, FindApp(options.name, AllApps()));
  ASSIGN_OR_RETURN(http::ListenAddress listen, ParseListenAddress(options.listen));
  ASSIGN_OR_RETURN(http::OriginPolicy origins, ParseOriginPolicy(options.origins));
  origins.AddPages("/");
  ASSIGN_OR_RETURN(nlohmann::json settings, ReadAppSettings(options.app));
  ASSIGN_OR_RETURN(const size_t memory_bytes, MemoryMaxBytes(options.memory, MachineMemoryBytes()));
  if (!options.firestore.empty()) RETURN_IF_ERROR(ParseAddress(options.firestore).status());
  ASSIGN_OR_RETURN(std::string database_token, FindAdminToken(options.admin_token_folder));
  ASSIGN_OR_RETURN(const client::Firestore database,
                   client::Connect({.address = options.firestore,
                                    .project = options.project,
                                    .bearer_token = std::move(database_token)}));
  ConfigureLog(log_level, log_format);
  wire::SilenceProtobufLog();
  const Signals signals;

  const SystemClock clock;
  RandomSource random;
  Metrics metrics;
  MemoryBudget memory(memory_bytes);
  std::unique_ptr<sandbox::Sandbox> stand_ins;
  if (!options.app.is_live) {
    ASSIGN_OR_RETURN(stand_ins, sandbox::Sandbox::Start({.clock = &clock, .memory = &memory}));
  }
  AppHost apps({.open_database = [&] { return Result<client::Firestore>(database); },
                .clock = clock,
                .random = random,
                .metrics = metrics,
                .environment = EnvironmentOf(std::getenv("APP_ENV"), std::getenv("NODE_ENV")),
                .settings = std::move(settings),
                .sandbox_url = stand_ins ? stand_ins->url() : "",
                .memory = &memory});
  const std::string data_path =
      options.data_path.empty() ? "data-" + options.name : options.data_path;
  ASSIGN_OR_RETURN(std::string own_token, access::LoadOrCreateAdminToken(data_path));
  const access::AccessPolicy policy(std::move(own_token), {});
  RETURN_IF_ERROR(apps.Add(app, "", data_path));
  http::Router router;
  apps.Mount(&router);
  router.AddPlain("GET", "/metrics", [&](const std::shared_ptr<http::PlainCall>& call) {
    const Status allowed = policy.CheckAdministrator(call->head());
    if (!allowed.ok()) return call->Respond({.status = 403, .body = allowed.message() + "\n"});
    call->Respond(
        {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics.Text()});
  });
  http::Server server({.listen = {std::move(listen)},
                       .loops = std::max(1u, std::thread::hardware_concurrency()),
                       .origins = std::move(origins),
                       .memory = &memory,
                       .metrics = &metrics},
                      router);
  RETURN_IF_ERROR(server.Start());
  Announce(server.addresses().front());

  const int received = signals.Wait(NothingToReload);
  Log(LogLevel::kInfo, "stopping", {{"signal", strsignal(received)}});
  server.Drain(std::chrono::seconds(options.drain_seconds));
  apps.Stop();
  return Status();
}

Status RunSandbox(const RunSandboxOptions& options) {
  ASSIGN_OR_RETURN(const http::ListenAddress address, ParseListenAddress(options.listen));
  ASSIGN_OR_RETURN(const size_t memory_bytes, MemoryMaxBytes(options.memory, MachineMemoryBytes()));
  const char* const token = std::getenv("HEARTH_SANDBOX_TOKEN");
  const Signals signals;
  const SystemClock clock;
  MemoryBudget memory(memory_bytes);
  ASSIGN_OR_RETURN(const std::unique_ptr<sandbox::Sandbox> stand_ins,
                   sandbox::Sandbox::Start({.host = address.host,
                                            .port = address.port,
                                            .clock = &clock,
                                            .token = token == nullptr ? std::string() : token,
                                            .memory = &memory}));
  ASSIGN_OR_RETURN(const http::ListenAddress bound, ParseAddress(stand_ins->host_port()));
  std::printf("services below %s/\n", stand_ins->url().c_str());
  Announce(bound);
  signals.Wait(NothingToReload);
  return Status();
}

}  // namespace hearth::server
