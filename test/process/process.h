// Shared by the tests of the hearth process.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "storage/testing/temporary_folder.h"
#include "support/firestore_client.h"
#include "support/server_process.h"

namespace hearth::process {

using storage::TemporaryFolder;
using support::FirestoreClient;
using support::ServerProcess;
namespace proto = support::proto;

// Runs `hearth` with these arguments.
std::unique_ptr<ServerProcess> RunHearth(const std::vector<std::string>& arguments);

// Serves `folder` on a free port, without applications unless the arguments name some. If the
// server does not start, the test fails with its output.
std::unique_ptr<ServerProcess> Serve(const std::string& folder,
                                     const std::vector<std::string>& more_arguments = {});
// Like Serve, but the server may refuse to start.
std::unique_ptr<ServerProcess> TryToServe(const std::string& folder,
                                          const std::vector<std::string>& more_arguments = {});
// Like TryToServe, on a machine whose clock is ahead.
std::unique_ptr<ServerProcess> TryToServeAhead(const std::string& folder, std::chrono::hours ahead,
                                               const std::vector<std::string>& more_arguments = {});
// Like TryToServe, with at most `files_max` open files.
std::unique_ptr<ServerProcess> TryToServeWithFiles(
    const std::string& folder, size_t files_max,
    const std::vector<std::string>& more_arguments = {});

// The port of the stand-ins that a server with applications runs; it reports only its own port.
uint16_t SandboxPort(const ServerProcess& server);

// Fails unless the process exits with a nonzero code and gives the reason in one line that contains
// `text`.
void ExpectRefusal(ServerProcess& server, std::string_view text);

std::vector<std::string> Lines(const std::string& text);

// A commit that sets the text of `path` to `text`.
proto::CommitRequest PutRequest(const std::string& path, const std::string& text);
Status Put(FirestoreClient& client, const std::string& path, const std::string& text);
Status Delete(FirestoreClient& client, const std::string& path);
Result<std::string> Get(FirestoreClient& client, const std::string& path);

// Documents by path, with their texts.
using Texts = std::map<std::string, std::string>;
// Fails unless every document has its expected text.
void ExpectAll(FirestoreClient& client, const Texts& wanted);

// True once nothing listens on the port.
bool WaitUntilRefused(uint16_t port);

}  // namespace hearth::process
