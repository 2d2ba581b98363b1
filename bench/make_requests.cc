// Writes the requests of the benchmarks and the answers of the canned server: get.messages and
// commit.messages, where each message is preceded by its length as four bytes, little-endian, and
// METHOD.message with one answer.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <fstream>
#include <string>

#include "bench_document.h"
#include "google/firestore/v1/firestore.pb.h"
#include "message_file.h"

namespace {

using namespace hearth::bench;

namespace proto = google::firestore::v1;

constexpr char kCollection[] = "bench";

void WriteMessage(const std::string& path, const google::protobuf::MessageLite& message) {
  std::ofstream(path, std::ios::binary) << message.SerializeAsString();
}

// The canned server's answer: the same bytes as Hearth's for such a document.
void WriteAnswers(const std::string& folder) {
  proto::Document document;
  FillDocument(kCollection, 1, 0, &document);
  document.mutable_create_time()->set_seconds(1'700'000'000);
  document.mutable_update_time()->set_seconds(1'700'000'000);
  WriteMessage(folder + "/GetDocument.message", document);

  proto::CommitResponse commit;
  commit.mutable_commit_time()->set_seconds(1'700'000'000);
  commit.add_write_results()->mutable_update_time()->set_seconds(1'700'000'000);
  WriteMessage(folder + "/Commit.message", commit);

  proto::BatchGetDocumentsResponse found;
  document.set_name(std::string(kDatabase) + "/documents/node/document-0");
  *found.mutable_found() = document;
  found.mutable_read_time()->set_seconds(1'700'000'000);
  WriteMessage(folder + "/BatchGetDocuments.message", found);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the requests of the benchmarks and the canned answers.");
  std::string folder;
  int documents = 10'000;
  app.add_option("folder", folder)->required()->check(CLI::ExistingDirectory);
  app.add_option("--documents", documents)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  MessageFile gets(folder + "/get.messages");
  MessageFile commits(folder + "/commit.messages");
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    for (int index = 0; index < documents; ++index) {
      proto::CommitRequest commit;
      commit.set_database(kDatabase);
      FillDocument(kCollection, index, round, commit.add_writes()->mutable_update());
      commits.Add(commit);
      if (round > 0) continue;
      proto::GetDocumentRequest get;
      get.set_name(DocumentName(kCollection, index));
      gets.Add(get);
    }
  }
  WriteAnswers(folder);
  return 0;
}
