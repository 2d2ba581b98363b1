// listen_load: thousands of listeners in one thread, and a writer whose commits they receive.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "base/status_macros.h"
#include "load/listeners.h"

namespace {

using namespace hearth;
using namespace hearth::bench;

constexpr std::chrono::milliseconds kIdle{20};

// The median and the 99th percentile: {"p50": 1.0, "p99": 2.0}.
std::string Percentiles(std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto at = [&](double share) {
    return samples[static_cast<size_t>(share * static_cast<double>(samples.size() - 1))];
  };
  char text[64];
  snprintf(text, sizeof(text), "{\"p50\": %.1f, \"p99\": %.1f}", at(0.50), at(0.99));
  return text;
}

void Print(const CommitReport& report) {
  std::cout << "{\"commits\": " << report.acknowledged.size()
            << ", \"streams_concerned\": " << report.streams_concerned
            << ", \"repeated\": " << report.repeated
            << ", \"acknowledged\": " << Percentiles(report.acknowledged)
            << ", \"first_heard\": " << Percentiles(report.first_heard)
            << ", \"last_heard\": " << Percentiles(report.last_heard)
            << ", \"last_heard_beyond\": " << Percentiles(report.last_heard_beyond) << "}"
            << std::endl;
}

void Print(const QueryReport& report) {
  std::cout << "{\"documents\": " << report.documents << ", \"bytes\": " << report.bytes
            << ", \"seconds\": " << report.seconds << "}" << std::endl;
}

void Print(const OpenReport& report) {
  std::cout << "{\"streams\": " << report.streams << ", \"documents\": " << report.documents
            << ", \"bytes\": " << report.bytes << ", \"seconds\": " << report.seconds << "}"
            << std::endl;
}

template <typename Report>
Status PrintOrFail(const Result<Report>& report) {
  RETURN_IF_ERROR(report.status());
  Print(*report);
  return Status();
}

bool HasInput() {
  pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return poll(&input, 1, 0) > 0;
}

Status RunCommand(Listeners& listeners, const std::string& line) {
  std::istringstream words(line);
  std::string command;
  size_t count = 0;
  words >> command >> count;
  if (command == "commit" && count > 0) return PrintOrFail(listeners.Commit(count));
  if (command == "query") return PrintOrFail(listeners.Query());
  return InvalidArgument("no such command: " + line);
}

Status Run(Listeners& listeners) {
  RETURN_IF_ERROR(PrintOrFail(listeners.Open()));
  while (true) {
    RETURN_IF_ERROR(listeners.Idle(kIdle));
    if (!HasInput()) continue;
    std::string line;
    if (!std::getline(std::cin, line)) return Status();
    RETURN_IF_ERROR(RunCommand(listeners, line));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Opens listeners, reports in JSON when all have their first snapshot, then takes commands, "
      "one per line, until its input ends: \"commit COUNT\" changes one document that often and "
      "reports when listeners received it, in microseconds; \"query\" queries the collection.");
  ListenOptions options;
  std::string address;
  app.add_option("--address", address, "HOST:PORT, with a numeric IPv4 address")->required();
  app.add_option("--connections", options.connections)->capture_default_str();
  app.add_option("--streams", options.streams, "On each connection")->capture_default_str();
  app.add_option("--targets", options.targets, "On each stream")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--collection", options.collection)->capture_default_str();
  const std::map<std::string, Wanted> wanted = {{"collection", Wanted::kCollection},
                                                {"equality", Wanted::kEquality},
                                                {"others", Wanted::kOthers}};
  app.add_option("--wanted", options.wanted,
                 "Per target: the collection, one value of a field, another collection")
      ->transform(CLI::CheckedTransformer(wanted));
  app.add_option("--first-value", options.first_value, "0: the first matches the writes")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  options.client.SetAddress(address);
  options.client.headers = {{"authorization", "Bearer owner"},
                            {"google-cloud-resource-prefix", "projects/bench/databases/(default)"}};
  Listeners listeners(options);
  if (const Status status = Run(listeners); !status.ok()) {
    std::cerr << status.message() << "\n";
    return 1;
  }
  return 0;
}
