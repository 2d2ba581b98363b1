// The command line, the addresses, and the server's output about itself.
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <signal.h>

#include <cstdio>

#include "http/testing/test_socket.h"
#include "process/process.h"

namespace hearth::process {
namespace {

TEST(CommandLine, HelpAndVersionSayWhatTheyShould) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"serve", "--help"}}) {
    const auto help = RunHearth(arguments);
    EXPECT_EQ(help->Wait().code, 0);
    EXPECT_NE(help->Stdout().find("serve"), std::string::npos) << help->Stdout();
    EXPECT_EQ(help->Stderr(), "");
  }
  for (const char* command : {"serve", "app"}) {
    const auto help = RunHearth({command, "--help"});
    EXPECT_EQ(help->Wait().code, 0);
    for (const char* flag : {"--app-config FILE", "--redis HOST:PORT", "--live"}) {
      EXPECT_NE(help->Stdout().find(flag), std::string::npos) << command << " " << flag;
    }
  }
  const auto version = RunHearth({"--version"});
  EXPECT_EQ(version->Wait().code, 0);
  EXPECT_EQ(version->Stdout(), HEARTH_VERSION "\n");
}

TEST(CommandLine, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  const std::string data = folder / "data";
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "--help"},
      {{"sreve"}, "sreve"},
      {{"--bogus"}, "--bogus"},
      {{"serve", "--bogus"}, "--bogus"},
      {{"serve", "--data", data, "--listen"}, "--listen"},
      {{"serve", "--data", data, "--listen", "nonsense"}, "nonsense"},
      {{"serve", "--data", data, "--listen", "127.0.0.1:99999"}, "99999"},
      {{"serve", "--data", data, "--listen", "0.0.0.0:0"}, "0.0.0.0"},
      {{"serve", "--data", data, "--cache-mib", "lots"}, "lots"},
      {{"serve", "--data", data, "--log-level", "loud"}, "loud"},
      {{"serve", "--data", data, "--indexes", "lax"}, "lax"},
      {{"serve", "--data", data, "--index-config", "/no/such.json"}, "/no/such.json"},
      {{"serve", "--data", data, "--unused-index-days", "0"}, "--unused-index-days"},
      {{"ttl"}, "--help"},
      {{"ttl", "set", "rooms"}, "FIELD"},
      {{"indexes", "--server", "nonsense"}, "nonsense"},
      {{"serve", "--data", data, "--log-format", "xml"}, "xml"},
  };
  for (const auto& [arguments, text] : cases) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const auto server = RunHearth(arguments);
    ExpectRefusal(*server, text);
  }
  EXPECT_FALSE(std::filesystem::exists(data));  // A refused start leaves nothing behind.
}

TEST(Addresses, PortZeroPrintsThePort) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data");
  ASSERT_NE(server->port(), 0);
  EXPECT_EQ(server->Stdout(), "listening on 127.0.0.1:" + std::to_string(server->port()) + "\n");
  FirestoreClient client(server->port());
  EXPECT_TRUE(Put(client, "rooms/r1", "hello").ok());

  http::TestSocket plain(server->port());
  plain.Send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(plain.ReadToEnd().ends_with("Ok\n"));
}

TEST(Addresses, ListensOnAllThatAreGiven) {
  const TemporaryFolder folder;
  const auto server = RunHearth({"serve", "--data", folder / "data", "--listen", "127.0.0.1:0",
                                 "--listen", "localhost:0", "--listen", "127.0.0.2:0"});
  ASSERT_TRUE(server->WaitUntilListening(3)) << server->Stderr();
  EXPECT_EQ(Lines(server->Stdout()).back(),
            "listening on 127.0.0.2:" + std::to_string(server->port(2)));
  FirestoreClient first(server->port(0));
  FirestoreClient second(server->port(1));
  ASSERT_TRUE(Put(first, "rooms/r1", "hello").ok());
  EXPECT_EQ(*Get(second, "rooms/r1"), "hello");
}

TEST(Addresses, ABusyPortIsRefused) {
  const TemporaryFolder folder;
  const auto first = Serve(folder / "first");
  const std::string address = "127.0.0.1:" + std::to_string(first->port());
  const auto second = RunHearth({"serve", "--data", folder / "second", "--listen", address});
  ExpectRefusal(*second, address);
  // The folder that the refused process opened is free again, and intact.
  const auto third = Serve(folder / "second");
  FirestoreClient client(third->port());
  EXPECT_TRUE(Put(client, "rooms/r1", "hello").ok());
}

TEST(Logs, AreJsonLineByLine) {
  const TemporaryFolder folder;
  for (const char* name :
       {"plain", "quote \" back\\slash", "tab\tline\nend", "d\xc3\xa9", "not UTF-8 \xff\xfe"}) {
    SCOPED_TRACE(name);
    const auto server = Serve(folder / name, {"--log-format", "json", "--log-level", "debug"});
    server->Signal(SIGTERM);
    EXPECT_EQ(server->Wait().code, 0);
    const std::vector<std::string> lines = Lines(server->Stderr());
    EXPECT_GE(lines.size(), 2u);
    for (const std::string& line : lines) {
      google::protobuf::Struct parsed;
      ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(line, &parsed).ok()) << line;
      for (const char* field : {"time", "level", "event"}) {
        EXPECT_TRUE(parsed.fields().contains(field)) << line;
      }
    }
  }
}

// Most of the resident memory consists of pages of the program and its libraries, which the system
// shares and reclaims when necessary. The budget is for the rest.
TEST(Costs, StartTimeAndIdleMemory) {
  constexpr size_t kOwnKibMax = 20 * 1024;
  const TemporaryFolder folder;
  for (const char* what : {"a new folder", "an existing folder"}) {
    const auto server = Serve(folder / "data");
    const support::MemoryUse memory = server->memory();
    std::printf("start on %s: %lld ms to the first line, when idle %zu KiB resident, %zu its own\n",
                what, static_cast<long long>(server->start_time().count()), memory.resident_kib,
                memory.own_kib);
    EXPECT_GT(memory.own_kib, 0u);
    EXPECT_LT(memory.own_kib, kOwnKibMax);
    server->Signal(SIGTERM);
    EXPECT_EQ(server->Wait().code, 0);
  }
}

}  // namespace
}  // namespace hearth::process
