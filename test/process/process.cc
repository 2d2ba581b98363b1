#include "process/process.h"

#include <chrono>
#include <sstream>

#include "base/status_macros.h"
#include "http/testing/test_socket.h"
#include "support/listening_ports.h"

namespace hearth::process {

std::unique_ptr<ServerProcess> RunHearth(const std::vector<std::string>& arguments) {
  return std::make_unique<ServerProcess>(HEARTH_SERVER, arguments);
}

namespace {

std::vector<std::string> ServeArguments(const std::string& folder,
                                        const std::vector<std::string>& more_arguments) {
  std::vector<std::string> arguments = {"serve", "--data", folder, "--listen", "127.0.0.1:0"};
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  return arguments;
}

// Runs `program`, which runs the server after its own `arguments`.
std::unique_ptr<ServerProcess> ServeThrough(const std::string& program,
                                            std::vector<std::string> arguments,
                                            const std::vector<std::string>& serve_arguments) {
  arguments.push_back(HEARTH_SERVER);
  arguments.insert(arguments.end(), serve_arguments.begin(), serve_arguments.end());
  return std::make_unique<ServerProcess>(program, arguments);
}

}  // namespace

std::unique_ptr<ServerProcess> TryToServe(const std::string& folder,
                                          const std::vector<std::string>& more_arguments) {
  return RunHearth(ServeArguments(folder, more_arguments));
}

std::unique_ptr<ServerProcess> TryToServeAhead(const std::string& folder, std::chrono::hours ahead,
                                               const std::vector<std::string>& more_arguments) {
  const std::string seconds = std::to_string(std::chrono::seconds(ahead).count());
  return ServeThrough("/usr/bin/env",
                      {"LD_PRELOAD=" HEARTH_CLOCK_AHEAD, "HEARTH_CLOCK_AHEAD_SECONDS=" + seconds},
                      ServeArguments(folder, more_arguments));
}

std::unique_ptr<ServerProcess> TryToServeWithFiles(const std::string& folder, size_t files_max,
                                                   const std::vector<std::string>& more_arguments) {
  const std::string script = "ulimit -n " + std::to_string(files_max) + " && exec \"$@\"";
  return ServeThrough("/bin/sh", {"-c", script, "sh"}, ServeArguments(folder, more_arguments));
}

uint16_t SandboxPort(const ServerProcess& server) {
  for (const uint16_t port : support::ListeningPorts(server.pid())) {
    if (port != server.port()) return port;
  }
  ADD_FAILURE() << "there is no sandbox";
  return 0;
}

std::unique_ptr<ServerProcess> Serve(const std::string& folder,
                                     const std::vector<std::string>& more_arguments) {
  std::unique_ptr<ServerProcess> server = TryToServe(folder, more_arguments);
  EXPECT_TRUE(server->WaitUntilListening()) << server->Stderr();
  return server;
}

void ExpectRefusal(ServerProcess& server, std::string_view text) {
  const support::Exit exit = server.Wait();
  const std::string said = server.Stderr();
  EXPECT_TRUE(exit.code.has_value()) << "it is still running, or a signal ended it: " << said;
  EXPECT_NE(exit.code, 0) << said;
  EXPECT_EQ(Lines(said).size(), 1u) << said;
  EXPECT_NE(said.find(text), std::string::npos) << "'" << text << "' is not in: " << said;
  EXPECT_EQ(server.Stdout(), "");
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

proto::CommitRequest PutRequest(const std::string& path, const std::string& text) {
  proto::CommitRequest request;
  request.set_database(support::kDatabase);
  proto::Document* document = request.add_writes()->mutable_update();
  document->set_name(support::FullName(path));
  (*document->mutable_fields())["text"].set_string_value(text);
  return request;
}

Status Put(FirestoreClient& client, const std::string& path, const std::string& text) {
  return client.Commit(PutRequest(path, text)).status();
}

Status Delete(FirestoreClient& client, const std::string& path) {
  proto::CommitRequest request;
  request.set_database(support::kDatabase);
  request.add_writes()->set_delete_(support::FullName(path));
  return client.Commit(request).status();
}

Result<std::string> Get(FirestoreClient& client, const std::string& path) {
  ASSIGN_OR_RETURN(const proto::Document document, client.Get(path));
  return document.fields().at("text").string_value();
}

void ExpectAll(FirestoreClient& client, const Texts& wanted) {
  for (const auto& [path, text] : wanted) {
    const Result<std::string> got = Get(client, path);
    ASSERT_TRUE(got.ok()) << path << ": " << got.status().ToString();
    EXPECT_TRUE(*got == text) << path << " has a different text";
  }
}

bool WaitUntilRefused(uint16_t port) {
  const auto end = std::chrono::steady_clock::now() + support::kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (!http::TestSocket(port).connected()) return true;
  }
  return false;
}

}  // namespace hearth::process
