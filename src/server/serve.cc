#include "server/serve.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "access/access_policy.h"
#include "access/admin_token.h"
#include "access/protected_projects.h"
#include "apps/sandbox/sandbox.h"
#include "base/clock.h"
#include "base/guarded_clock.h"
#include "base/log.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/turn_pool.h"
#include "client/embedded/embedded.h"
#include "documents/stored_times.h"
#include "doors/control/control_service.h"
#include "doors/control/emulator_service.h"
#include "doors/grpc/grpc_service.h"
#include "doors/rest/rest_service.h"
#include "doors/webchannel/channel_service.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "http/router.h"
#include "http/server.h"
#include "server/app_host.h"
#include "server/apps.h"
#include "server/front_page.h"
#include "server/index_files.h"
#include "server/machine_memory.h"
#include "server/signals.h"
#include "server/start_checks.h"
#include "service/firestore_methods.h"
#include "storage/rocksdb_store.h"
#include "wire/requests.h"

namespace hearth::server {
namespace {

constexpr size_t kMebibyte = 1024 * 1024;

Status ConfigureLogAs(const ServeOptions& options) {
  ASSIGN_OR_RETURN(const LogLevel level, ParseLogLevel(options.log_level));
  ASSIGN_OR_RETURN(const LogFormat format, ParseLogFormat(options.log_format));
  ConfigureLog(level, format);
  return Status();
}

Result<http::ServerOptions> ToServerOptions(const ServeOptions& options, Metrics& metrics,
                                            MemoryBudget& memory) {
  http::ServerOptions result;
  result.memory = &memory;
  result.metrics = &metrics;
  for (const std::string& text : options.listen) {
    ASSIGN_OR_RETURN(http::ListenAddress address, ParseListenAddress(text));
    result.listen.push_back(std::move(address));
  }
  ASSIGN_OR_RETURN(result.origins, ParseOriginPolicy(options.origins));
  result.origins.AddPage("/");
  result.origins.AddPages("/apps/");
  result.loops =
      options.loops != 0 ? options.loops : std::max(1u, std::thread::hardware_concurrency());
  result.connections_max = options.connections_max;
  return result;
}

Result<engine::EngineOptions> ToEngineOptions(const ServeOptions& options, Metrics& metrics,
                                              MemoryBudget& memory) {
  engine::EngineOptions result;
  result.memory = &memory;
  result.watchers.memory = &memory;
  result.metrics = &metrics;
  result.document_cache_bytes = options.memory.cache_mib * kMebibyte / 2;
  ASSIGN_OR_RETURN(result.index_mode, ParseIndexMode(options.indexes));
  result.databases_max = options.databases_max;
  result.indexes.on_demand.entries_per_write_max = options.on_demand_index_entries;
  result.indexes.unused_max = std::chrono::hours(24) * options.unused_index_days;
  result.scanned_documents_max = options.scan_documents_max;
  result.vectors.folder = options.data_path + "/vectors";
  return result;
}

storage::RocksDbOptions ToStorageOptions(const ServeOptions& options, const FileShares& files,
                                         Metrics& metrics) {
  storage::RocksDbOptions result;
  result.path = options.data_path;
  result.block_cache_bytes = options.memory.cache_mib * kMebibyte / 2;
  result.reserve_bytes = options.disk_reserve_mib ? *options.disk_reserve_mib * kMebibyte
                                                  : DefaultReserveBytes(options.data_path);
  result.open_tables_max = files.tables;
  result.accept_loss = options.accept_loss;
  result.metrics = &metrics;
  return result;
}

// Bounds the connections, so that they leave descriptors to storage.
Result<FileShares> DivideFilesOf(const ServeOptions& options, http::ServerOptions* server_options) {
  ASSIGN_OR_RETURN(const size_t limit, RaiseFileLimit());
  const bool has_apps = options.apps != "none";
  const bool has_sandbox = has_apps && !options.app.is_live;
  ASSIGN_OR_RETURN(
      const FileShares files,
      DivideFiles(limit, {.connections = options.connections_max,
                          .loops = server_options->loops,
                          .has_apps = has_apps,
                          .sandbox_connections = has_sandbox ? sandbox::kConnectionsMax : 0}));
  server_options->connections_max = files.connections;
  return files;
}

// The server's clock, and a metric about it.
struct ServerTime {
  explicit ServerTime(Metrics& metrics)
      : leap(metrics.AddGauge(
            "hearth_clock_leap_seconds",
            "By how much the machine's clock is ahead, after a leap that is not followed.",
            [this] { return std::chrono::duration<double>(clock.ignored_leap()).count(); })) {}
  ServerTime(const ServerTime&) = delete;
  ServerTime& operator=(const ServerTime&) = delete;

  const SystemClock machine;
  const GuardedClock clock{machine, PlausibleMicros(machine.WallMicros())};
  const MetricCallback leap;
};

// Reported once the server listens: a start that fails prints one line.
struct StartNotes {
  model::Timestamp newest_commit;
  std::string clock_warning;  // Empty: none.
};

Result<StartNotes> CheckData(const storage::Store& store, const Clock& clock,
                             const ServeOptions& options) {
  StartNotes notes;
  ASSIGN_OR_RETURN(notes.newest_commit, documents::LoadNewestCommitTime(store));
  ASSIGN_OR_RETURN(const model::Timestamp newest, documents::LoadNewestTime(store));
  ASSIGN_OR_RETURN(notes.clock_warning,
                   CheckClock(clock.WallMicros(), newest,
                              options.accept_clock ? Clocks::kAccepted : Clocks::kChecked));
  return notes;
}

void LogStart(const ServeOptions& options, const FileShares& files, const StartNotes& notes) {
  if (files.connections < options.connections_max) {
    Log(LogLevel::kWarning, "the limit of open files allows fewer connections than configured",
        {{"connections", files.connections}, {"connections_max", options.connections_max}});
  }
  if (!notes.clock_warning.empty()) Log(LogLevel::kWarning, notes.clock_warning);
  if (const auto access = WarningAboutAccess(options.data_path)) {
    Log(LogLevel::kWarning, *access, {{"data", options.data_path}});
  }
  const bool is_new = notes.newest_commit == model::Timestamp();
  Log(LogLevel::kInfo, "serving",
      {{"data", options.data_path},
       {"newest_commit", is_new ? "none" : notes.newest_commit.ToString()}});
}

std::vector<MetricCallback> AddMemoryMetrics(const MemoryBudget& memory, Metrics& metrics) {
  std::vector<MetricCallback> callbacks;
  callbacks.push_back(
      metrics.AddGauge("hearth_memory_claimed_bytes",
                       "Memory claimed by caches, requests, answers, queues, backlogs and sorts.",
                       [&memory] { return static_cast<double>(memory.used_bytes()); }));
  callbacks.push_back(metrics.AddGauge(
      "hearth_memory_lasting_bytes",
      "The part of it that lasts as long as clients wish: listeners, sessions, locks.",
      [&memory] { return static_cast<double>(memory.lasting_bytes()); }));
  callbacks.push_back(
      metrics.AddGauge("hearth_memory_bytes_max", "Maximum of claimed memory.",
                       [&memory] { return static_cast<double>(memory.bytes_max()); }));
  callbacks.push_back(
      metrics.AddCounter("hearth_memory_refusals_total", "Claims of memory that were refused.",
                         [&memory] { return static_cast<double>(memory.refusals()); }));
  return callbacks;
}

// The application options of `serve`, checked before anything is opened.
struct AppPlan {
  std::vector<AppEntry> chosen;
  nlohmann::json settings;
  model::DatabaseName database;
};

Result<AppPlan> PlanApps(const ServeOptions& options) {
  ASSIGN_OR_RETURN(std::vector<AppEntry> chosen, ChooseApps(options.apps, AllApps()));
  ASSIGN_OR_RETURN(nlohmann::json settings, ReadAppSettings(options.app));
  Result<model::DatabaseName> database =
      model::DatabaseName::Parse("projects/" + options.app_project + "/databases/(default)");
  if (!database.ok()) return database.status().While("--app-project");
  for (const std::string& project : options.protected_projects) {
    const Status valid =
        model::DatabaseName::Parse("projects/" + project + "/databases/(default)").status();
    if (!valid.ok()) return valid.While("--protect-project");
  }
  return AppPlan{std::move(chosen), std::move(settings), *std::move(database)};
}

// After the store is opened, which makes this the only process that uses the data folder.
Result<access::AccessPolicy> MakePolicy(const ServeOptions& options, const AppPlan& plan) {
  ASSIGN_OR_RETURN(std::string token, access::LoadOrCreateAdminToken(options.data_path));
  std::vector<std::string> projects = options.protected_projects;
  if (!plan.chosen.empty()) projects.emplace_back(plan.database.project());
  ASSIGN_OR_RETURN(projects, access::RememberProtectedProjects(options.data_path, projects));
  return access::AccessPolicy(std::move(token), std::move(projects));
}

// Null if not needed.
Result<std::unique_ptr<sandbox::Sandbox>> StartSandbox(const AppPlan& plan,
                                                       const ServeOptions& options,
                                                       const Clock& clock, MemoryBudget& memory) {
  if (plan.chosen.empty() || options.app.is_live) return std::unique_ptr<sandbox::Sandbox>();
  return sandbox::Sandbox::Start({.clock = &clock, .memory = &memory});
}

void AddApps(const AppPlan& plan, const ServeOptions& options, AppHost* apps) {
  for (const AppEntry& app : plan.chosen) {
    const std::string name(app.name);
    IgnoreError(apps->Add(app, "/apps/" + name, options.data_path + "/apps/" + name),
                "reported on the front page and in the log; the database keeps serving");
  }
}

// The threads for long messages. They are separate, so that no read waits while a message is
// decompressed and parsed, or turned into JSON; and few, because that takes much memory.
TurnPoolOptions TranslatorOptions() {
  return {.threads = std::max(2u, std::thread::hardware_concurrency() / 2)};
}

struct Doors {
  http::ChoosingService* grpc;
  http::Service* rest;
  http::Service* channel;
  http::Service* control;
  http::Service* emulator;
};

void Mount(const Doors& doors, http::Router* router) {
  router->SetFirst(*doors.grpc);
  router->AddService("/emulator/", *doors.emulator);
  router->AddService("/hearth/", *doors.control);
  router->AddService("/metrics", *doors.control);
  router->AddService("/v1/", *doors.rest);
  router->AddService("/google.firestore.v1.Firestore/Listen/channel", *doors.channel);
  router->AddService("/google.firestore.v1.Firestore/Write/channel", *doors.channel);
}

}  // namespace

void Announce(const http::ListenAddress& address) {
  std::printf("listening on %s\n", AddressText(address).c_str());
  std::fflush(stdout);
}

Status Serve(const ServeOptions& options) {
  RETURN_IF_ERROR(ConfigureLogAs(options));
  Metrics metrics;  // Used by everything below, so destroyed last.
  ASSIGN_OR_RETURN(const size_t memory_bytes, MemoryMaxBytes(options.memory, MachineMemoryBytes()));
  MemoryBudget memory(memory_bytes);
  memory.Take(options.memory.cache_mib * kMebibyte);  // The caches fill up sooner or later.
  const std::vector<MetricCallback> memory_metrics = AddMemoryMetrics(memory, metrics);
  ASSIGN_OR_RETURN(http::ServerOptions server_options, ToServerOptions(options, metrics, memory));
  ASSIGN_OR_RETURN(const FileShares files, DivideFilesOf(options, &server_options));
  ASSIGN_OR_RETURN(const engine::EngineOptions engine_options,
                   ToEngineOptions(options, metrics, memory));
  ASSIGN_OR_RETURN(AppPlan plan, PlanApps(options));
  ASSIGN_OR_RETURN(IndexFiles index_files,
                   IndexFiles::Load(options.index_config, plan.chosen, plan.database));
  wire::SilenceProtobufLog();
  const Signals signals;

  const ServerTime time(metrics);
  const Clock& clock = time.clock;
  RandomSource random;
  // Calls in progress use the methods, so these are destroyed last.
  rpc::Methods methods;
  TurnPool* translators = nullptr;
  const rpc::Background background = [&translators](ClientKey client, Task task) {
    return translators->TryPost(client, std::move(task));
  };
  doors::grpc::GrpcService grpc(methods, {.background = background, .memory = &memory});
  ASSIGN_OR_RETURN(const std::unique_ptr<storage::Store> store,
                   storage::OpenRocksDbStore(ToStorageOptions(options, files, metrics)));
  ASSIGN_OR_RETURN(const StartNotes notes, CheckData(*store, clock, options));
  ASSIGN_OR_RETURN(const access::AccessPolicy policy, MakePolicy(options, plan));
  ASSIGN_OR_RETURN(const std::unique_ptr<engine::Engine> engine,
                   engine::Engine::Open(*store, clock, random, engine_options));
  index_files.Apply(engine.get());
  service::FirestoreMethods firestore(*engine, policy, clock, random, &memory);
  firestore.Register(&methods);
  TurnPool translator_threads(TranslatorOptions());
  translators = &translator_threads;
  doors::control::ControlService control(*engine, policy, metrics);
  doors::control::EmulatorService emulator(*engine, policy);
  doors::rest::RestService rest(methods, background, {.memory = &memory});
  doors::webchannel::ChannelService channel(methods, background, {.memory = &memory});
  http::Router router;
  Mount({&grpc, &rest, &channel, &control, &emulator}, &router);
  ASSIGN_OR_RETURN(const std::unique_ptr<sandbox::Sandbox> stand_ins,
                   StartSandbox(plan, options, clock, memory));
  AppHost apps({.open_database = [&] { return client::OverEngine(*engine, plan.database); },
                .clock = clock,
                .random = random,
                .metrics = metrics,
                .environment = EnvironmentOf(std::getenv("APP_ENV"), std::getenv("NODE_ENV")),
                .settings = std::move(plan.settings),
                .sandbox_url = stand_ins ? stand_ins->url() : "",
                .memory = &memory});
  AddApps(plan, options, &apps);
  apps.Mount(&router);
  auto front = std::make_unique<FrontPage>(apps, clock, metrics, options.app_project);
  front->Mount(&router);
  http::Server server(std::move(server_options), router);
  RETURN_IF_ERROR(server.Start());
  front->set_address(AddressText(server.addresses().front()));
  for (const http::ListenAddress& address : server.addresses()) Announce(address);
  LogStart(options, files, notes);

  const int received = signals.Wait([&] { index_files.Reload(engine.get()); });
  Log(LogLevel::kInfo, "stopping", {{"signal", strsignal(received)}});
  const bool drained = server.Drain(std::chrono::seconds(options.drain_seconds));
  front.reset();  // It queries the applications.
  apps.Stop();
  Log(LogLevel::kInfo, "stopped", {{"drained", drained ? "yes" : "no"}});
  return Status();
}

}  // namespace hearth::server
