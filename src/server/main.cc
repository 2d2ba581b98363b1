// The hearth program: its commands and flags.
#include <malloc.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>

#include "base/text.h"
#include "server/commands.h"
#include "server/options.h"
#include "server/run_app.h"
#include "server/serve.h"

namespace {

using hearth::Code;
using hearth::Result;
using hearth::Status;
using hearth::server::AppOptions;
using hearth::server::DatabaseOptions;
using hearth::server::MemoryOptions;
using hearth::server::OriginOptions;
using hearth::server::RunAppOptions;
using hearth::server::RunSandboxOptions;
using hearth::server::ServeOptions;
using hearth::server::TargetOptions;
using hearth::server::TtlOptions;

constexpr int kExitNoServer = 2;

void AddIndexFlags(CLI::App* serve, ServeOptions* options) {
  serve
      ->add_option("--indexes", options->indexes,
                   "auto: every query is answered, and indexes are created and dropped as needed; "
                   "strict: a query without its index is refused, as in the cloud")
      ->capture_default_str()
      ->type_name("auto|strict");
  serve
      ->add_option("--index-config", options->index_config,
                   "A firestore.indexes.json to apply to DATABASE, or to (default); may be given "
                   "more than once: files for the same database are merged; SIGHUP reloads them")
      ->take_all()
      ->expected(1)
      ->type_name("[DATABASE=]FILE");
  serve
      ->add_option("--unused-index-days", options->unused_index_days,
                   "Drop an index created on demand after this many days without use")
      ->check(CLI::Range(1, 36'500))
      ->capture_default_str();
  serve
      ->add_option("--on-demand-index-entries", options->on_demand_index_entries,
                   "How many entries the indexes created on demand may add to a document write")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  serve
      ->add_option("--scan-documents-max", options->scan_documents_max,
                   "Log a query that reads more documents than this because it lacks an index; in "
                   "strict mode, refuse it")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
}

void AddLogFlags(CLI::App* command, std::string* level, std::string* format) {
  command->add_option("--log-level", *level, "debug, info, warning or error")
      ->capture_default_str();
  command->add_option("--log-format", *format, "text or json")->capture_default_str();
}

void AddAppFlags(CLI::App* command, AppOptions* options) {
  command
      ->add_option("--app-config", options->config,
                   "JSON file with application settings: {\"NAME\": {...}}")
      ->type_name("FILE");
  command
      ->add_option("--redis", options->redis,
                   "Redis server for the caches and queues of applications that support it; "
                   "separate several cluster nodes with commas")
      ->type_name("HOST:PORT");
  command->add_flag("--live", options->is_live,
                    "Let applications call the real services instead of local stand-ins");
}

void AddStartFlags(CLI::App* serve, ServeOptions* options) {
  serve
      ->add_option(
          "--disk-reserve-mib", options->disk_reserve_mib,
          "While less than this is free on the disk, in MiB, accept only deletes; default: "
          "128, or a tenth of a small disk")
      ->check(CLI::Range(0, 1024 * 1024));
  serve->add_flag("--accept-loss", options->accept_loss,
                  "Start although acknowledged commits are missing from the data folder");
  serve->add_flag("--accept-clock", options->accept_clock,
                  "Start although the machine's clock is years ahead of the data");
}

void AddOriginFlags(CLI::App* command, OriginOptions* options) {
  command
      ->add_option("--allow-host", options->allowed_hosts,
                   "Also answer requests to this name, such as that of a proxy, besides localhost, "
                   "127.0.0.1 and [::1]; without a port: with any; may be given more than once")
      ->take_all()
      ->expected(1)
      ->type_name("HOST[:PORT]");
  command
      ->add_option("--allow-origin", options->allowed_origins,
                   "Also let web pages of this origin use the server, besides those of localhost; "
                   "may be given more than once")
      ->take_all()
      ->expected(1)
      ->type_name("SCHEME://HOST[:PORT]");
}

void AddMemoryMaxFlag(CLI::App* command, MemoryOptions* options) {
  command
      ->add_option("--memory-max-mib", options->max_mib,
                   "Memory for caches, requests, answers and queued work together, in MiB; "
                   "0 means half of the machine's or of the control group's")
      ->check(CLI::Range(0, 1024 * 1024))
      ->capture_default_str();
}

void AddServeFlags(CLI::App* serve, ServeOptions* options) {
  serve->add_option("--data", options->data_path, "Data folder; created if missing")
      ->capture_default_str();
  serve
      ->add_option("--listen", options->listen,
                   "HOST:PORT to listen on; may be given more than once; port 0 picks a free one")
      ->capture_default_str()
      ->take_all()
      ->expected(1)
      ->type_name("HOST:PORT");
  AddOriginFlags(serve, &options->origins);
  serve->add_option("--cache-mib", options->memory.cache_mib, "Memory for cached data, in MiB")
      ->check(CLI::Range(8, 1024 * 1024))
      ->capture_default_str();
  AddMemoryMaxFlag(serve, &options->memory);
  serve->add_option("--loops", options->loops, "Number of event loops; 0 means one per core")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  serve
      ->add_option("--connections-max", options->connections_max,
                   "Maximum number of open connections")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  serve
      ->add_option("--databases-max", options->databases_max,
                   "Maximum number of databases; the first write to a name creates one")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  serve
      ->add_option("--drain-seconds", options->drain_seconds,
                   "Seconds that open requests may take to finish after SIGTERM")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  AddStartFlags(serve, options);
  AddIndexFlags(serve, options);
  serve
      ->add_option("--apps", options->apps,
                   "Applications to run in the server: all, none, or a comma-separated list of "
                   "names; each is served at /apps/NAME/")
      ->capture_default_str()
      ->type_name("all|none|NAMES");
  serve->add_option("--app-project", options->app_project, "Project that applications use")
      ->capture_default_str();
  serve
      ->add_option("--protect-project", options->protected_projects,
                   "From now on, let clients use the databases of this project only with the token "
                   "from admin.token in the data folder; always so for embedded applications' "
                   "project; may be given more than once")
      ->take_all()
      ->expected(1)
      ->type_name("PROJECT");
  AddAppFlags(serve, &options->app);
  AddLogFlags(serve, &options->log_level, &options->log_format);
}

void AddRunAppFlags(CLI::App* run, RunAppOptions* options) {
  run->add_option("NAME", options->name, "Name of the application")->required();
  run->add_option("--firestore", options->firestore,
                  "Address of its database; default: FIRESTORE_EMULATOR_HOST, else Google Cloud")
      ->type_name("HOST:PORT");
  run->add_option("--project", options->project, "Project of its database")->capture_default_str();
  run->add_option("--listen", options->listen, "HOST:PORT to listen on; port 0 picks a free one")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  AddOriginFlags(run, &options->origins);
  run->add_option("--admin-token-folder", options->admin_token_folder,
                  "Data folder of the database's server, with the admin.token that a protected "
                  "project requires. The variable HEARTH_ADMIN_TOKEN takes precedence")
      ->type_name("FOLDER");
  run->add_option("--data", options->data_path,
                  "Folder for files that are not documents, such as keys; default: data-NAME");
  AddMemoryMaxFlag(run, &options->memory);
  run->add_option("--drain-seconds", options->drain_seconds,
                  "Seconds that open requests may take to finish after SIGTERM")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  AddAppFlags(run, &options->app);
  AddLogFlags(run, &options->log_level, &options->log_format);
}

void AddServerFlags(CLI::App* command, TargetOptions* target) {
  command->add_option("--server", target->server, "Address of the server")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  command
      ->add_option(
          "--data", target->data_path,
          "Data folder of the server, with its admin.token; default: data, for a server on "
          "this machine. The variable HEARTH_ADMIN_TOKEN takes precedence")
      ->type_name("FOLDER");
}

void AddTargetFlags(CLI::App* command, TargetOptions* target) {
  AddServerFlags(command, target);
  command->add_option("--project", target->project, "Project id; optional if there is only one");
  command->add_option("--database", target->database, "Database id, if not (default)");
}

// The subcommands and the chosen one's action.
struct Commands {
  TargetOptions target;
  TtlOptions ttl;
  DatabaseOptions database;
  bool needed = false;
  std::function<Result<std::string>()> chosen;  // Empty: `serve`, or none.

  void Add(CLI::App* app) {
    AddDatabases(app);
    CLI::App* indexes = app->add_subcommand("indexes", "List the indexes of a running server");
    AddTargetFlags(indexes, &target);
    indexes->add_flag("--needed", needed,
                      "Print the firestore.indexes.json that the queries since the server's start "
                      "would need in the cloud");
    indexes->callback([this] {
      chosen = [this] { return needed ? PrintNeededIndexes(target) : ListIndexes(target); };
    });

    CLI::App* policies = app->add_subcommand("ttl", "Show and change when documents expire");
    policies->require_subcommand(1);
    CLI::App* list = policies->add_subcommand("list", "List the policies and their progress");
    AddTargetFlags(list, &target);
    list->callback([this] { chosen = [this] { return ListTtlPolicies(target); }; });

    CLI::App* set = policies->add_subcommand(
        "set", "Expire the documents of a collection group at the time in one of their fields");
    AddTargetFlags(set, &target);
    set->add_option("COLLECTION", ttl.collection, "The collection's id")->required();
    set->add_option("FIELD", ttl.field, "The timestamp field")->required();
    set->add_option("--offset", ttl.offset, "Delay after that time, such as 90s, 15m, 12h or 2d")
        ->capture_default_str();
    set->callback([this] { chosen = [this] { return SetTtlPolicy(target, ttl); }; });

    CLI::App* clear = policies->add_subcommand("clear", "Remove the policy of a collection group");
    AddTargetFlags(clear, &target);
    clear->add_option("COLLECTION", ttl.collection, "The collection's id")->required();
    clear->callback([this] { chosen = [this] { return ClearTtlPolicy(target, ttl.collection); }; });
  }

  void AddDatabases(CLI::App* app) {
    CLI::App* databases = app->add_subcommand("db", "List and delete databases");
    databases->require_subcommand(1);
    CLI::App* list = databases->add_subcommand("list", "List the databases of a running server");
    AddServerFlags(list, &target);
    list->callback([this] { chosen = [this] { return ListDatabases(target); }; });

    CLI::App* remove = databases->add_subcommand(
        "delete", "Delete a database with its documents, history, indexes and policies");
    AddServerFlags(remove, &target);
    remove->add_option("PROJECT", database.project, "Its project id")->required();
    remove->add_option("DATABASE", database.database, "Its id; (default) is one like any other")
        ->required();
    remove->callback([this] { chosen = [this] { return DeleteDatabase(target, database); }; });
  }
};

int Report(const Status& status) {
  if (status.ok()) return EXIT_SUCCESS;
  // A message may have several lines; nothing else in it may control the terminal.
  std::istringstream lines(status.message());
  const char* prefix = "hearth: ";
  for (std::string line; std::getline(lines, line); prefix = "") {
    std::fprintf(stderr, "%s%s\n", prefix, hearth::Printable(line).c_str());
  }
  return EXIT_FAILURE;
}

int RunCommand(const Commands& commands) {
  const Result<std::string> text = commands.chosen();
  if (!text.ok()) {
    const int code = Report(text.status());
    return text.status().code() == Code::kUnavailable ? kExitNoServer : code;
  }
  std::fwrite(text->data(), 1, text->size(), stdout);
  return EXIT_SUCCESS;
}

}  // namespace

// Large buffers go back to the system when they are freed. Otherwise every thread's heap may keep
// some, which no budget counts.
constexpr int kMappedBytesMin = 512 * 1024;

int main(int argc, char** argv) {
  mallopt(M_MMAP_THRESHOLD, kMappedBytesMin);
  umask(S_IRWXG | S_IRWXO);  // Only the owner can read the files that are created.
  CLI::App app("Hearth: a document database that every Firestore client already speaks to.");
  app.set_version_flag("--version", HEARTH_VERSION);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("hearth: ") + error.what() + " (try --help)\n";
  });
  ServeOptions options;
  CLI::App* serve = app.add_subcommand("serve", "Serve a data folder over gRPC and HTTP");
  AddServeFlags(serve, &options);
  RunAppOptions app_options;
  CLI::App* run = app.add_subcommand("app", "Run one application against a remote database");
  AddRunAppFlags(run, &app_options);
  RunSandboxOptions sandbox_options;
  CLI::App* sandbox = app.add_subcommand(
      "sandbox",
      "Run local stand-ins for the services applications call; its URL contains a "
      "secret, random unless HEARTH_SANDBOX_TOKEN is set");
  sandbox
      ->add_option("--listen", sandbox_options.listen,
                   "HOST:PORT of the loopback to listen on; port 0 picks a free one")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  AddMemoryMaxFlag(sandbox, &sandbox_options.memory);
  Commands commands;
  commands.Add(&app);

  CLI11_PARSE(app, argc, argv);
  if (commands.chosen) return RunCommand(commands);
  if (run->parsed()) return Report(hearth::server::RunApp(app_options));
  if (sandbox->parsed()) return Report(hearth::server::RunSandbox(sandbox_options));
  // Not left to the parser, which would report this instead of an unknown argument.
  if (!serve->parsed()) {
    std::fprintf(stderr, "hearth: missing command (try --help)\n");
    return EXIT_FAILURE;
  }
  return Report(hearth::server::Serve(options));
}
