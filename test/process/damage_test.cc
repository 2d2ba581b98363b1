// One byte of the data changes while the server is down. The server must then refuse to start, or
// answer DATA_LOSS, or be unaffected; it must never report existing data as absent or different.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "process/process.h"

namespace hearth::process {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDocuments = 40;
constexpr size_t kSamples = 16;  // Places per file.
constexpr size_t kLogHeaderBytes = 7;

class Damage : public testing::Test {
 protected:
  // Creates data, and ends the server with `signal`.
  void Make(int signal) {
    const auto server = Serve(data_);
    FirestoreClient client(server->port());
    for (size_t i = 0; i < kDocuments; ++i) {
      const std::string path = "rooms/r" + std::to_string(i);
      texts_[path] = std::string(700, static_cast<char>('a' + i % 26)) + std::to_string(i);
      ASSERT_TRUE(Put(client, path, texts_[path]).ok());
    }
    server->Signal(signal);
    server->Wait();
  }

  // The files of the database whose names contain `part`.
  std::vector<std::string> Files(const std::string& part) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(data_ + "/db")) {
      const bool is_wanted = entry.path().filename().string().find(part) != std::string::npos;
      if (is_wanted && entry.file_size() > 0) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // Inverts one byte, checks the server's answers, and restores everything.
  void CheckByte(const std::string& file, size_t offset) {
    SCOPED_TRACE(file + " at " + std::to_string(offset));
    const std::string copy = folder_ / "copy";
    fs::remove_all(copy);
    fs::copy(data_, copy, fs::copy_options::recursive);
    {
      std::fstream bytes(copy + file.substr(data_.size()),
                         std::ios::binary | std::ios::in | std::ios::out);
      bytes.seekg(static_cast<std::streamoff>(offset));
      const int byte = bytes.get();
      bytes.seekp(static_cast<std::streamoff>(offset));
      bytes.put(static_cast<char>(~byte));
    }
    const auto server = TryToServe(copy);
    if (!server->WaitUntilListening()) {
      ++refused_starts_;
      return ExpectRefusal(*server, "");
    }
    ExpectIntactOrDataLoss(server->port());
  }

  void ExpectIntactOrDataLoss(uint16_t port) {
    FirestoreClient client(port);
    bool has_loss = false;
    for (const auto& [path, text] : texts_) {
      const Result<std::string> got = Get(client, path);
      if (got.ok()) {
        EXPECT_EQ(*got, text) << path;
      } else {
        EXPECT_EQ(got.status().code(), Code::kDataLoss) << path << got.status().ToString();
        has_loss = true;
      }
    }
    proto::ListDocumentsRequest request;
    request.set_parent(std::string(support::kDatabase) + "/documents");
    request.set_collection_id("rooms");
    request.set_page_size(2 * kDocuments);
    const Result<proto::ListDocumentsResponse> listed = client.List(request);
    if (listed.ok()) {
      EXPECT_EQ(listed->documents_size(), static_cast<int>(kDocuments));
    } else {
      EXPECT_EQ(listed.status().code(), Code::kDataLoss) << listed.status().ToString();
      has_loss = true;
    }
    ++(has_loss ? lossy_starts_ : intact_starts_);
  }

  void CheckFile(const std::string& file) {
    const size_t size = fs::file_size(file);
    for (size_t i = 0; i < kSamples; ++i) CheckByte(file, (2 * i + 1) * size / (2 * kSamples));
  }

  void Report(const char* what) const {
    std::printf("%s: %zu starts refused, %zu answered DATA_LOSS, %zu not affected\n", what,
                refused_starts_, lossy_starts_, intact_starts_);
  }

  const TemporaryFolder folder_;
  const std::string data_ = folder_ / "data";
  Texts texts_;
  size_t refused_starts_ = 0;
  size_t lossy_starts_ = 0;
  size_t intact_starts_ = 0;
};

TEST_F(Damage, InATableIsDataLoss) {
  Make(SIGTERM);
  const std::vector<std::string> tables = Files(".sst");
  ASSERT_FALSE(tables.empty());
  for (const std::string& table : tables) CheckFile(table);
  Report("tables");
  EXPECT_GT(refused_starts_ + lossy_starts_, 0u);
}

TEST_F(Damage, InTheWriteAheadLogIsRefusedAtTheStart) {
  Make(SIGKILL);
  const std::vector<std::string> logs = Files(".log");
  ASSERT_FALSE(logs.empty());
  for (const std::string& log : logs) CheckFile(log);
  Report("write-ahead log");
  EXPECT_EQ(refused_starts_, kSamples * logs.size());
}

TEST_F(Damage, InTheLastRecordOfTheLogIsNotTakenForATornEnd) {
  const auto server = Serve(data_);
  FirestoreClient client(server->port());
  std::string log;
  size_t begin = 0;
  for (size_t i = 0; i < kDocuments; ++i) {
    const std::string path = "rooms/r" + std::to_string(i);
    texts_[path] = "text " + std::to_string(i);
    if (i == kDocuments - 1) {
      log = Files(".log").back();
      begin = fs::file_size(log);
    }
    ASSERT_TRUE(Put(client, path, texts_[path]).ok());
  }
  server->Kill();
  const size_t end = fs::file_size(log);
  ASSERT_GT(end, begin);
  for (size_t offset = begin; offset < begin + kLogHeaderBytes; ++offset) CheckByte(log, offset);
  for (const size_t offset : {(begin + end) / 2, end - 1}) CheckByte(log, offset);
  Report("last record of the write-ahead log");
  EXPECT_EQ(intact_starts_, 0u);
}

TEST_F(Damage, InTheManifestIsNotTakenForAnEmptyDatabase) {
  Make(SIGTERM);
  for (const std::string& file : Files("MANIFEST")) CheckFile(file);
  for (size_t i = 0; i < 8; ++i) CheckByte(data_ + "/db/CURRENT", i);
  for (size_t i = 0; i < 8; ++i) CheckByte(data_ + "/HEARTH", i);
  Report("MANIFEST, CURRENT, HEARTH");
}

TEST_F(Damage, AMissingFileIsNotTakenForAnEmptyDatabase) {
  Make(SIGTERM);
  std::vector<std::string> files = Files(".sst");
  for (const char* part : {"MANIFEST", "CURRENT"}) files.push_back(Files(part).front());
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    fs::rename(file, folder_ / "aside");
    const auto server = TryToServe(data_);
    if (server->WaitUntilListening()) {
      ExpectIntactOrDataLoss(server->port());
    } else {
      ExpectRefusal(*server, "");
    }
    server->Kill();
    fs::rename(folder_ / "aside", file);
  }
}

// After a kill, the logs hold what was acknowledged last.
TEST_F(Damage, AMissingOrShorterWriteAheadLogIsRefusedUnlessTheLossIsAccepted) {
  Make(SIGKILL);
  const std::string log = Files(".log").back();
  const size_t size = fs::file_size(log);
  for (const size_t left : {size_t{0}, size / 2, size - 1}) {
    SCOPED_TRACE(left);
    const std::string copy = folder_ / "copy";
    fs::remove_all(copy);
    fs::copy(data_, copy, fs::copy_options::recursive);
    const std::string damaged = copy + log.substr(data_.size());
    if (left == 0) {
      fs::remove(damaged);
    } else {
      fs::resize_file(damaged, left);
    }
    const auto refused = TryToServe(copy);
    ExpectRefusal(*refused, damaged);
    EXPECT_NE(refused->Stderr().find("--accept-loss"), std::string::npos);

    const auto accepted = Serve(copy, {"--accept-loss"});
    EXPECT_NE(accepted->Stderr().find("acknowledged commits are lost"), std::string::npos);
    FirestoreClient client(accepted->port());
    EXPECT_EQ(Get(client, "rooms/r39").status().code(), Code::kNotFound);
    EXPECT_EQ(Get(client, "rooms/r0").ok(), left != 0);
    EXPECT_TRUE(Put(client, "rooms/r39", "again").ok());
    accepted->Kill();
    const auto again = Serve(copy);
    FirestoreClient reader(again->port());
    ExpectAll(reader, {{"rooms/r39", "again"}});
  }
}

}  // namespace
}  // namespace hearth::process
