// Writes what the benchmarks send and the canned server answers: get.messages and commit.messages,
// each message after its length as four bytes, little-endian, and METHOD.message with one answer.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <fstream>
#include <string>

#include "google/firestore/v1/firestore.pb.h"
#include "message_file.h"

namespace {

using hearth::bench::MessageFile;

namespace proto = google::firestore::v1;

constexpr char kDatabase[] = "projects/bench/databases/(default)";

std::string DocumentName(int index) {
  return std::string(kDatabase) + "/documents/bench/document-" + std::to_string(index);
}

// Ten fields of everyday types, about 400 bytes. `round` makes every write a change.
void FillDocument(int index, int round, proto::Document* document) {
  document->set_name(DocumentName(index));
  auto& fields = *document->mutable_fields();
  fields["title"].set_string_value("The document number " + std::to_string(index));
  fields["author"].set_string_value("somebody-" + std::to_string(index % 97));
  fields["url"].set_string_value("https://example.com/articles/" + std::to_string(index));
  fields["score"].set_integer_value(index * 7 + round);
  fields["comments"].set_integer_value(index % 500);
  fields["ratio"].set_double_value(index / 3.0);
  fields["published"].set_boolean_value(index % 2 == 0);
  fields["created"].mutable_timestamp_value()->set_seconds(1'700'000'000 + index);
  auto* tags = fields["tags"].mutable_array_value();
  for (const char* tag : {"fire", "place", "stone"}) tags->add_values()->set_string_value(tag);
  (*fields["place"].mutable_map_value()->mutable_fields())["city"].set_string_value("Hamburg");
}

void WriteMessage(const std::string& path, const google::protobuf::MessageLite& message) {
  std::ofstream(path, std::ios::binary) << message.SerializeAsString();
}

// What the canned server answers: the same bytes as Hearth for such a document.
void WriteAnswers(const std::string& folder) {
  proto::Document document;
  FillDocument(1, 0, &document);
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
      FillDocument(index, round, commit.add_writes()->mutable_update());
      commits.Add(commit);
      if (round > 0) continue;
      proto::GetDocumentRequest get;
      get.set_name(DocumentName(index));
      gets.Add(get);
    }
  }
  WriteAnswers(folder);
  return 0;
}
