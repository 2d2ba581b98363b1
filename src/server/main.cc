// The hearth program: its commands and flags.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "server/options.h"
#include "server/serve.h"

int main(int argc, char** argv) {
  using hearth::server::ServeOptions;
  CLI::App app("Hearth: a document database that every Firestore client already speaks to.");
  app.set_version_flag("--version", HEARTH_VERSION);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("hearth: ") + error.what() + " (hearth --help lists what there is)\n";
  });

  ServeOptions options;
  CLI::App* serve = app.add_subcommand("serve", "Serve a data folder over gRPC and HTTP");
  serve->add_option("--data", options.data_path, "Folder for the data; made if it is missing")
      ->capture_default_str();
  serve
      ->add_option("--listen", options.listen,
                   "HOST:PORT to listen on; may be given more than once; port 0 picks a free one")
      ->capture_default_str()
      ->take_all()
      ->expected(1)
      ->type_name("HOST:PORT");
  serve->add_option("--cache-mib", options.cache_mib, "Memory for cached data, in MiB")
      ->check(CLI::Range(8, 1024 * 1024))
      ->capture_default_str();
  serve->add_option("--loops", options.loops, "Event loops; 0 is one a core")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  serve->add_option("--connections-max", options.connections_max, "Connections at a time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  serve
      ->add_option("--drain-seconds", options.drain_seconds,
                   "How long requests under way may take after SIGTERM")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  serve->add_option("--log-level", options.log_level, "debug, info, warning or error")
      ->capture_default_str();
  serve->add_option("--log-format", options.log_format, "text or json")->capture_default_str();

  CLI11_PARSE(app, argc, argv);
  // Not required of the parser, which would say so instead of naming an argument it does not know.
  if (!serve->parsed()) {
    std::fprintf(stderr, "hearth: what to do? (hearth --help lists what there is)\n");
    return EXIT_FAILURE;
  }

  const hearth::Status status = hearth::server::Serve(options);
  if (status.ok()) return EXIT_SUCCESS;
  std::fprintf(stderr, "hearth: %s\n", status.message().c_str());
  return EXIT_FAILURE;
}
