// hearth_stress: kills the server repeatedly and compares the remaining data with a model.
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "stress/run.h"

int main(int argc, char** argv) {
  hearth::stress::RunOptions options;
  options.seed = std::random_device{}();
  bool keeps_data = false;
  CLI::App app("Kills a Hearth server over and over and compares its data with a model.");
  app.add_option("--server", options.server, "The hearth program")->required();
  app.add_option("--kills", options.kills, "How often to kill it")->capture_default_str();
  app.add_option("--clients", options.clients, "Clients at a time")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of all random choices but the kernel's");
  app.add_flag("--keep-data", keeps_data, "Do not remove the data folder at the end");
  CLI11_PARSE(app, argc, argv);

  std::string folder = (std::filesystem::temp_directory_path() / "hearth-stress-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    std::perror("hearth_stress: making a temporary folder");
    return EXIT_FAILURE;
  }
  options.data = folder;
  std::printf("seed %llu, data in %s\n", static_cast<unsigned long long>(options.seed),
              folder.c_str());
  std::fflush(stdout);

  const bool passed = hearth::stress::Run(options).Execute();
  std::printf("%s (seed %llu)\n", passed ? "passed" : "FAILED",
              static_cast<unsigned long long>(options.seed));
  // After a failure the data is kept for the investigation.
  if (passed && !keeps_data) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  } else {
    std::printf("the data is in %s\n", folder.c_str());
  }
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
