// However large the documents are that small commits replace, and however many locks they wait for:
// the server stays within its memory, and the commits of others go on.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "attack/attacker.h"

namespace hearth::attack {
namespace {

using http::TestHttp2Client;
using process::Serve;
using process::TemporaryFolder;
using support::FirestoreClient;
using support::ServerProcess;

constexpr size_t kMemoryMaxMib = 256;
// The budget, and what is not counted: the program itself, allocator overhead, RocksDB's tables.
constexpr size_t kResidentMibMax = kMemoryMaxMib + 192;
constexpr size_t kReadersMax = 2'000;  // Of one document, in transactions.
constexpr int kInvalidArgument = 3;
constexpr int kResourceExhausted = 8;

class CommitsAttackTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = Serve(folder_ / "data",
                    {"--memory-max-mib", std::to_string(kMemoryMaxMib), "--cache-mib", "32"});
    other_ = std::make_unique<FirestoreClient>(server_->port());
  }

  void ExpectOthersCommit(int commits) {
    for (int i = 0; i < commits; ++i) {
      ASSERT_EQ(process::Put(*other_, "other/d", std::to_string(i)), Status());
    }
  }
  static void AddMaskedWrite(const std::string& path, int64_t n, proto::CommitRequest* request) {
    proto::Write& write = *request->add_writes();
    write.mutable_update()->set_name(support::FullName(path));
    (*write.mutable_update()->mutable_fields())["n"].set_integer_value(n);
    write.mutable_update_mask()->add_field_paths("n");
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<FirestoreClient> other_;
};

TEST_F(CommitsAttackTest, SmallUpdatesOfManyLargeDocuments) {
  constexpr size_t kDocuments = 100;
  Fill(*other_, "large", kDocuments, 200'000);
  TestHttp2Client greedy(server_->port());
  std::vector<int32_t> commits;
  // Each replaces 20 MB by as many. All at once would take gigabytes.
  for (int64_t i = 0; i < 20; ++i) {
    proto::CommitRequest request;
    request.set_database(support::kDatabase);
    for (size_t k = 0; k < kDocuments; ++k) {
      AddMaskedWrite("large/" + std::to_string(k), i, &request);
    }
    commits.push_back(StartCall(greedy, "Commit", request));
  }
  ASSERT_TRUE(greedy.RoundTrip());
  ExpectOthersCommit(3);
  ASSERT_TRUE(greedy.RoundTrip());
  EXPECT_LT(Finished(greedy, commits), commits.size()) << "the commits were too quick to tell";
  size_t done = 0;
  for (const int32_t stream : commits) {
    ASSERT_TRUE(greedy.UntilClosed(stream));
    const int status = greedy.answer(stream).grpc_status();
    EXPECT_TRUE(status == 0 || status == kResourceExhausted) << status;
    done += status == 0 ? 1 : 0;
  }
  EXPECT_GT(done, 0u);
  const size_t peak_mib = server_->memory().peak_kib / 1024;
  RecordProperty("peak_mib", static_cast<int>(peak_mib));
  EXPECT_GT(peak_mib, 0u);
  EXPECT_LE(peak_mib, kResidentMibMax);
}

TEST_F(CommitsAttackTest, ManySmallUpdatesOfOneLargeDocument) {
  Fill(*other_, "large", 1, 1'000'000);
  TestHttp2Client greedy(server_->port());
  proto::CommitRequest request;
  request.set_database(support::kDatabase);
  for (int64_t i = 0; i < 50'000; ++i) AddMaskedWrite("large/0", i, &request);
  const int32_t stream = StartCall(greedy, "Commit", request);
  ASSERT_TRUE(greedy.UntilClosed(stream));
  EXPECT_EQ(greedy.answer(stream).grpc_status(), 0);
  const Result<proto::Document> document = other_->Get("large/0");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->fields().at("n").integer_value(), 49'999);
}

TEST_F(CommitsAttackTest, ArraysThatAreComparedWithEachOther) {
  TestHttp2Client greedy(server_->port());
  proto::CommitRequest request;
  request.set_database(support::kDatabase);
  for (const int64_t sign : {1, -1}) {
    auto& transform = *request.add_writes()->mutable_transform();
    transform.set_document(support::FullName("arrays/a"));
    auto& field = *transform.add_field_transforms();
    field.set_field_path("items");
    for (int64_t i = 1; i <= 300'000; ++i) {
      field.mutable_append_missing_elements()->add_values()->set_integer_value(sign * i);
    }
  }
  const int32_t stream = StartCall(greedy, "Commit", request);
  ASSERT_TRUE(greedy.RoundTrip());
  ExpectOthersCommit(3);
  ASSERT_TRUE(greedy.UntilClosed(stream));
  EXPECT_EQ(greedy.answer(stream).grpc_status(), kInvalidArgument);  // The document is too large.
}

TEST_F(CommitsAttackTest, ManyTransactionsHaveReadWhatManyCommitsWrite) {
  ASSERT_EQ(process::Put(*other_, "contended/d", "x"), Status());
  proto::BatchGetDocumentsRequest read;
  read.set_database(support::kDatabase);
  read.add_documents(support::FullName("contended/d"));
  read.mutable_new_transaction()->mutable_read_write();
  std::vector<std::unique_ptr<TestHttp2Client>> readers;
  size_t granted = 0;
  for (int connection = 0; connection < 10; ++connection) {
    readers.push_back(std::make_unique<TestHttp2Client>(server_->port()));
    std::vector<int32_t> reads;
    for (int i = 0; i < 900; ++i) {
      reads.push_back(StartCall(*readers.back(), "BatchGetDocuments", read));
    }
    for (const int32_t stream : reads) {
      ASSERT_TRUE(readers.back()->UntilClosed(stream));
      const int status = readers.back()->answer(stream).grpc_status();
      EXPECT_TRUE(status == 0 || status == kResourceExhausted) << status;
      granted += status == 0 ? 1 : 0;
    }
  }
  EXPECT_GT(granted, 0u);
  EXPECT_LE(granted, kReadersMax);
  TestHttp2Client writer(server_->port());
  std::vector<int32_t> commits;
  for (int i = 0; i < 900; ++i) {
    commits.push_back(StartCall(writer, "Commit", process::PutRequest("contended/d", "y")));
  }
  ASSERT_TRUE(writer.RoundTrip());
  ExpectOthersCommit(30);
  ASSERT_TRUE(writer.RoundTrip());
  EXPECT_EQ(Finished(writer, commits), 0u) << "their locks timed out before others had a turn";
}

}  // namespace
}  // namespace hearth::attack
