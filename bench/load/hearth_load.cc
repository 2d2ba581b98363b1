// hearth_load: a native gRPC load generator, cheap enough not to distort the measurement.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "load/load_generator.h"

int main(int argc, char** argv) {
  using namespace hearth;
  using namespace hearth::bench;

  CLI::App app("Sends unary gRPC calls as fast as they are answered, or at a rate; prints JSON.");
  LoadOptions options;
  std::string address;
  double seconds = 5;
  uint32_t deadline_ms = 0;
  std::string messages_file;
  std::vector<std::string> headers;
  app.add_option("--address", address, "HOST:PORT, with a numeric IPv4 address")->required();
  app.add_option("--path", options.path, "The method")->capture_default_str();
  app.add_option("--connections", options.connections)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--streams", options.streams, "Calls in flight on each connection")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seconds", seconds)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--requests", options.requests_max,
                 "Stop after this many; 0: only after --seconds")
      ->capture_default_str();
  app.add_option("--rate", options.rate,
                 "Requests per second, answered or not; 0: each answer makes room for the next")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--deadline-ms", deadline_ms, "Of each request; 0: none")->capture_default_str();
  app.add_option("--messages", messages_file,
                 "File of request messages, each after its size (4 bytes, little-endian); "
                 "without it requests are empty")
      ->check(CLI::ExistingFile);
  app.add_option("--header", headers, "name:value, in lower case; may be repeated");
  CLI11_PARSE(app, argc, argv);

  options.client.SetAddress(address);
  options.duration = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  for (const std::string& header : headers) {
    const size_t split = header.find(':');
    if (split == std::string::npos) {
      std::cerr << "--header " << header << ": no ':'\n";
      return 2;
    }
    options.client.headers.emplace_back(header.substr(0, split), header.substr(split + 1));
  }
  if (deadline_ms > 0) {
    options.deadline = std::chrono::milliseconds(deadline_ms);
    options.client.headers.emplace_back("grpc-timeout", std::to_string(deadline_ms) + "m");
  }

  std::vector<std::string> messages = {""};
  if (!messages_file.empty()) {
    Result<std::vector<std::string>> read = ReadMessages(messages_file);
    if (!read.ok()) {
      std::cerr << read.status().message() << "\n";
      return 2;
    }
    messages = *std::move(read);
  }
  CyclingBody body(std::move(messages));
  const Result<LoadReport> report = GenerateLoad(options, body);
  if (!report.ok()) {
    std::cerr << report.status().message() << "\n";
    return 1;
  }
  std::cout << report->ToJson() << "\n";
  return 0;
}
