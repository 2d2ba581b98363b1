// Databases: what a client can use up with names that it made up.
#include <gmock/gmock.h>

#include "process/process.h"

namespace hearth::process {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string DatabaseOf(const std::string& project) {
  return "projects/" + project + "/databases/(default)";
}

Status PutIn(FirestoreClient& client, const std::string& project, size_t first = 0,
             size_t count = 1) {
  proto::CommitRequest request;
  request.set_database(DatabaseOf(project));
  for (size_t i = first; i < first + count; ++i) {
    proto::Document* document = request.add_writes()->mutable_update();
    document->set_name(DatabaseOf(project) + "/documents/rooms/r" + std::to_string(i));
    (*document->mutable_fields())["text"].set_string_value("hello");
  }
  return client.Commit(request).status();
}

// Whether the document exists.
bool Exists(FirestoreClient& client, const std::string& project, size_t i = 0) {
  proto::BatchGetDocumentsRequest request;
  request.set_database(DatabaseOf(project));
  request.add_documents(DatabaseOf(project) + "/documents/rooms/r" + std::to_string(i));
  const auto answers = client.BatchGet(request);
  EXPECT_TRUE(answers.ok()) << answers.status().ToString();
  return answers.ok() && !answers->empty() && answers->at(0).has_found();
}

// Runs a command against the server of `folder`.
std::string RunCommand(const ServerProcess& server, const TemporaryFolder& folder,
                       std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--server", "127.0.0.1:" + std::to_string(server.port()),
                                     "--data", folder / "data"});
  const auto command = RunHearth(arguments);
  const support::Exit exit = command->Wait();
  EXPECT_EQ(exit.code, 0) << command->Stderr();
  return command->Stdout();
}

TEST(CatalogAttack, ReadingFromMadeUpProjectsUsesUpNothing) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--databases-max", "3"});
  FirestoreClient client(server->port());
  ASSERT_EQ(PutIn(client, "real"), Status());
  constexpr size_t kReads = 20'000;
  for (size_t i = 0; i < kReads; ++i) {
    ASSERT_FALSE(Exists(client, "made-up-" + std::to_string(i)));
  }
  EXPECT_EQ(PutIn(client, "another"), Status());
  const std::string listed = RunCommand(*server, folder, {"db", "list"});
  EXPECT_EQ(Lines(listed).size(), 3u) << listed;
  EXPECT_THAT(listed, Not(HasSubstr("made-up")));
}

TEST(CatalogAttack, WritingToMadeUpProjectsIsLimitedAndCanBeUndone) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--databases-max", "10"});
  FirestoreClient client(server->port());
  ASSERT_EQ(PutIn(client, "real"), Status());
  size_t made = 0;
  Status refused;
  for (size_t i = 0; i < 50; ++i) {
    const Status status = PutIn(client, "made-up-" + std::to_string(i));
    if (status.ok()) {
      ++made;
    } else {
      refused = status;
    }
  }
  EXPECT_EQ(made, 9u);
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("--databases-max"));
  // Whoever has a database keeps it, and others read theirs as empty.
  EXPECT_EQ(PutIn(client, "real", 1), Status());
  EXPECT_FALSE(Exists(client, "new"));
  EXPECT_EQ(PutIn(client, "new").code(), Code::kResourceExhausted);
  RunCommand(*server, folder, {"db", "delete", "made-up-3", "(default)"});
  EXPECT_EQ(PutIn(client, "new"), Status());
}

TEST(CatalogAttack, OneClientLeavesDatabasesToOthers) {
  constexpr size_t kDatabasesMax = 256;
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--databases-max", std::to_string(kDatabasesMax)});
  FirestoreClient greedy(server->port());
  size_t made = 0;
  while (made < kDatabasesMax && PutIn(greedy, "made-up-" + std::to_string(made)).ok()) ++made;
  EXPECT_EQ(made, kDatabasesMax / 2);
  for (const char* project : {"first", "second"}) {
    FirestoreClient other(server->port());
    EXPECT_EQ(PutIn(other, project), Status());
    EXPECT_EQ(PutIn(greedy, project, 1), Status());  // It exists.
  }
  EXPECT_EQ(PutIn(greedy, "one-more").code(), Code::kResourceExhausted);
}

TEST(CatalogAttack, ADeletionSurvivesKills) {
  constexpr size_t kCommits = 40;
  constexpr size_t kWritesPerCommit = 500;
  const TemporaryFolder folder;
  auto server = Serve(folder / "data");
  {
    FirestoreClient client(server->port());
    ASSERT_EQ(PutIn(client, "kept"), Status());
    for (size_t i = 0; i < kCommits; ++i) {
      ASSERT_EQ(PutIn(client, "large", i * kWritesPerCommit, kWritesPerCommit), Status());
    }
    RunCommand(*server, folder, {"db", "delete", "large", "(default)"});
  }
  // Each start resumes the removal and is killed in its midst, or finds it finished.
  for (int kill = 0; kill < 3; ++kill) {
    server->Kill();
    server = Serve(folder / "data");
    FirestoreClient client(server->port());
    EXPECT_FALSE(Exists(client, "large", kCommits * kWritesPerCommit - 1));
    EXPECT_TRUE(Exists(client, "kept"));
  }
  FirestoreClient client(server->port());
  ASSERT_EQ(PutIn(client, "large"), Status());  // Another database of that name.
  std::string listed;
  do {
    listed = RunCommand(*server, folder, {"db", "list"});
  } while (listed.find("REMOVING") != std::string::npos);
  EXPECT_EQ(Lines(listed).size(), 3u) << listed;
  EXPECT_TRUE(Exists(client, "large"));
  EXPECT_FALSE(Exists(client, "large", 1));
  EXPECT_TRUE(Exists(client, "kept"));
}

}  // namespace
}  // namespace hearth::process
