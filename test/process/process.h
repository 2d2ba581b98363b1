// What the tests of the hearth process share.
#pragma once

#include <gtest/gtest.h>

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

// Serves `folder` on a free port, without applications unless the arguments name some; the test
// fails, with what the server said, when it does not start.
std::unique_ptr<ServerProcess> Serve(const std::string& folder,
                                     const std::vector<std::string>& more_arguments = {});
// As Serve, and the server may refuse.
std::unique_ptr<ServerProcess> TryToServe(const std::string& folder);

// Fails unless the process ends by itself with a code other than 0 and says why in one line that
// holds `text`.
void ExpectRefusal(ServerProcess& server, std::string_view text);

std::vector<std::string> Lines(const std::string& text);

// A commit that makes `path` say `text`.
proto::CommitRequest PutRequest(const std::string& path, const std::string& text);
Status Put(FirestoreClient& client, const std::string& path, const std::string& text);
Result<std::string> Get(FirestoreClient& client, const std::string& path);

// Documents by path, with what they say.
using Texts = std::map<std::string, std::string>;
// Fails unless every document says what it should.
void ExpectAll(FirestoreClient& client, const Texts& wanted);

// True once nobody listens on the port any more.
bool WaitUntilRefused(uint16_t port);

}  // namespace hearth::process
