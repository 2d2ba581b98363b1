// Damaged bytes are reported as DataLoss, never as absence. A torn end of the log is not damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/testing/test_rounds.h"
#include "storage/store_contract.h"

namespace hearth::storage {
namespace {

namespace fs = std::filesystem;

constexpr int kCommits = 12;

std::string KeyOf(int number) { return "key" + std::to_string(100 + number); }
// Some values are longer than a log block, so that their records have several fragments.
std::string ValueOf(int number) {
  return std::string(number % 5 == 4 ? 40'000 : 60, static_cast<char>('a' + number));
}

std::string ReadFile(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void WriteFile(const std::string& name, const std::string& bytes) {
  std::ofstream(name, std::ios::binary | std::ios::trunc) << bytes;
}

class DamageTest : public testing::Test {
 protected:
  // Makes a store with kCommits commits, and copies it as kill -9 would leave it.
  void SetUp() override {
    const std::unique_ptr<Store> store = Open(folder_ / "data");
    for (int number = 0; number < kCommits; ++number) {
      Batch batch;
      batch.Put(Space::kDocuments, KeyOf(number), ValueOf(number));
      ASSERT_EQ(store->Commit(batch), Status());
      log_bytes_.push_back(fs::file_size(FileOf(folder_ / "data", ".log")));
      marks_.push_back(ReadFile(folder_ / "data/MARK"));
    }
    CopyAtOneMoment(folder_ / "data", folder_ / "killed");
  }

  // The number of commits that are complete in the first `length` bytes of the log.
  int CommitsWithin(size_t length) const {
    return static_cast<int>(std::upper_bound(log_bytes_.begin(), log_bytes_.end(), length) -
                            log_bytes_.begin());
  }

  static std::unique_ptr<Store> Open(const std::string& path) {
    Result<std::unique_ptr<Store>> opened = OpenRocksDbStore({.path = path});
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  // A fresh copy of `from` to damage.
  std::string Copy(const std::string& from) {
    const std::string to = folder_ / "damaged";
    fs::remove_all(to);
    fs::copy(folder_ / from, to, fs::copy_options::recursive);
    return to;
  }

  // The largest file whose name contains `part`.
  static std::string FileOf(const std::string& path, const std::string& part) {
    std::string found;
    for (const auto& entry : fs::directory_iterator(path + "/db")) {
      const bool matches = entry.path().filename().string().find(part) != std::string::npos;
      if (matches && (found.empty() || entry.file_size() > fs::file_size(found))) {
        found = entry.path();
      }
    }
    return found;
  }

  // The number of commits present: the first n, all complete, and no others.
  static int CommitsIn(const Store& store) {
    int commits = 0;
    while (commits < kCommits &&
           *store.Get(Space::kDocuments, KeyOf(commits)) == ValueOf(commits)) {
      ++commits;
    }
    const std::unique_ptr<Snapshot> snapshot = store.NewSnapshot();
    EXPECT_EQ(ScanAll(*snapshot, Space::kDocuments, {}, Direction::kForward).size(), commits);
    return commits;
  }

  // Flips bits of the byte at `offset` in the file, and expects that the store does not open.
  void ExpectDataLossAtOpen(const std::string& from, const std::string& part, size_t offset,
                            int flipped) {
    const std::string path = Copy(from);
    const std::string name = FileOf(path, part);
    std::string bytes = ReadFile(name);
    bytes[offset] = static_cast<char>(bytes[offset] ^ flipped);
    WriteFile(name, bytes);
    const Result<std::unique_ptr<Store>> opened = OpenRocksDbStore({.path = path});
    EXPECT_EQ(opened.status().code(), Code::kDataLoss)
        << part << " offset " << offset << " flipped " << flipped << ": "
        << opened.status().ToString();
    EXPECT_EQ(ReadFile(name), bytes) << "what is damaged must be left as it was found";
  }

  TemporaryFolder folder_;
  // After each commit: the length of the log, and the bytes of the mark.
  std::vector<size_t> log_bytes_;
  std::vector<std::string> marks_;
};

// RocksDB itself misreads damage in fragment headers. These come every few dozen bytes here, so a
// fine step through a small log hits all of their bytes.
TEST_F(DamageTest, AFlippedByteInTheLogIsDataLoss) {
  const size_t size = ReadFile(FileOf(folder_ / "killed", ".log")).size();
  ASSERT_GT(size, 80'000);
  std::vector<size_t> offsets;
  for (size_t offset = 0; offset < 120; ++offset) offsets.push_back(offset);
  for (size_t offset = size - 300; offset < size; ++offset) offsets.push_back(offset);
  for (size_t offset = 32'768 - 8; offset < 32'768 + 8; ++offset) offsets.push_back(offset);
  for (size_t offset = 120; offset < size - 300; offset += 9'973) offsets.push_back(offset);
  constexpr std::array<int, 4> kFlipped = {0x01, 0x04, 0x80, 0xff};
  for (size_t i = 0; i < offsets.size() * kFlipped.size(); i += TestStep()) {
    ExpectDataLossAtOpen("killed", ".log", offsets[i / kFlipped.size()],
                         kFlipped[i % kFlipped.size()]);
    if (HasFailure()) return;
  }
}

// A kill during commit n + 1: n commits were acknowledged, and some bytes of the next are there.
TEST_F(DamageTest, ATornLogOpensWithTheCommitsBeforeTheTear) {
  const size_t size = log_bytes_.back();
  std::vector<size_t> lengths = {size};
  for (size_t length = 0; length < 1000; length += 13) lengths.push_back(length);
  for (size_t length = 1000; length < size; length += 7'919) lengths.push_back(length);
  for (size_t length = size - 400; length < size; length += 7) lengths.push_back(length);
  std::sort(lengths.begin(), lengths.end());
  int commits = 0;
  for (size_t i = (lengths.size() - 1) % TestStep(); i < lengths.size(); i += TestStep()) {
    const std::string path = Copy("killed");
    commits = CommitsWithin(lengths[i]);
    fs::resize_file(FileOf(path, ".log"), lengths[i]);
    if (commits == 0) {
      fs::remove(path + "/MARK");
    } else {
      WriteFile(path + "/MARK", marks_[static_cast<size_t>(commits) - 1]);
    }
    EXPECT_EQ(CommitsIn(*Open(path)), commits) << "length " << lengths[i];
    EXPECT_EQ(CommitsIn(*Open(path)), commits) << "after another restart";
  }
  EXPECT_EQ(commits, kCommits);
}

TEST_F(DamageTest, WhatATornEndDropsIsLogged) {
  constexpr size_t kTornBytes = 11;
  const size_t kept = log_bytes_[kCommits - 2];
  const std::string path = Copy("killed");
  const std::string name = FileOf(path, ".log");
  fs::resize_file(name, kept + kTornBytes);
  WriteFile(path + "/MARK", marks_[kCommits - 2]);
  const auto log_of_start = [&] {
    testing::internal::CaptureStderr();
    EXPECT_EQ(CommitsIn(*Open(path)), kCommits - 1);
    return testing::internal::GetCapturedStderr();
  };
  const std::string log = log_of_start();
  for (const std::string& part :
       {std::string("dropped the torn end of a write-ahead log"), name,
        "bytes=" + std::to_string(kTornBytes), "kept=" + std::to_string(kept)}) {
    EXPECT_NE(log.find(part), std::string::npos) << part << " is not in: " << log;
  }
  EXPECT_EQ(log_of_start().find("torn end"), std::string::npos);
}

// The same lengths, but the missing bytes were acknowledged.
TEST_F(DamageTest, ALogThatIsShorterThanItWasAcknowledgedIsDataLoss) {
  const size_t size = log_bytes_.back();
  for (const size_t length :
       {size_t{0}, size_t{1}, log_bytes_[3], size / 2, log_bytes_[kCommits - 2], size - 1}) {
    SCOPED_TRACE(length);
    const std::string path = Copy("killed");
    const std::string name = FileOf(path, ".log");
    fs::resize_file(name, length);
    const Status refused = OpenRocksDbStore({.path = path}).status();
    EXPECT_EQ(refused.code(), Code::kDataLoss) << refused.ToString();
    EXPECT_NE(refused.message().find(name), std::string::npos) << refused.ToString();
    EXPECT_EQ(fs::file_size(name), length) << "a refused start changes nothing";

    const Result<std::unique_ptr<Store>> accepted =
        OpenRocksDbStore({.path = path, .accept_loss = true});
    ASSERT_TRUE(accepted.ok()) << accepted.status().ToString();
    EXPECT_EQ(CommitsIn(**accepted), CommitsWithin(length));
    EXPECT_EQ(fs::file_size(path + "/lost/" + fs::path(name).filename().string()), length);
  }
}

TEST_F(DamageTest, ZerosAfterTheLastRecordAreATornEnd) {
  const std::string path = Copy("killed");
  const std::string name = FileOf(path, ".log");
  fs::resize_file(name, fs::file_size(name) + 100'000);
  EXPECT_EQ(CommitsIn(*Open(path)), kCommits);
}

TEST_F(DamageTest, ALogThatIsTornThoughALaterOneHasDataIsDataLoss) {
  const std::string path = Copy("killed");
  const std::string name = FileOf(path, ".log");
  fs::copy_file(name, path + "/db/999999.log");
  fs::resize_file(name, fs::file_size(name) - 1);
  EXPECT_EQ(OpenRocksDbStore({.path = path}).status().code(), Code::kDataLoss);
}

TEST_F(DamageTest, ADamagedManifestIsDataLoss) {
  const size_t size = ReadFile(FileOf(folder_ / "killed", "MANIFEST")).size();
  for (size_t offset = 0; offset < size; ++offset) {
    ExpectDataLossAtOpen("killed", "MANIFEST", offset, offset % 2 == 0 ? 0x04 : 0x81);
    if (HasFailure()) return;
  }
}

TEST_F(DamageTest, ADamagedCurrentIsDataLoss) {
  const size_t size = ReadFile(FileOf(folder_ / "killed", "CURRENT")).size();
  for (size_t offset = 0; offset < size; ++offset) {
    ExpectDataLossAtOpen("killed", "CURRENT", offset, 0x01);
  }
}

TEST_F(DamageTest, MissingFilesAreDataLoss) {
  Open(folder_ / "killed").reset();  // Flushes, so that there is a table file.
  for (const char* part : {"CURRENT", "MANIFEST", ".sst"}) {
    const std::string path = Copy("killed");
    fs::remove(FileOf(path, part));
    EXPECT_EQ(OpenRocksDbStore({.path = path}).status().code(), Code::kDataLoss) << part;
  }
  const std::string path = Copy("killed");
  fs::remove_all(path + "/db");
  EXPECT_EQ(OpenRocksDbStore({.path = path}).status().code(), Code::kDataLoss);
}

// Every read of a damaged table returns the right answer or DataLoss; and for each offset in the
// data, some read returns DataLoss.
TEST_F(DamageTest, ADamagedTableIsNeverReportedAsAbsence) {
  Open(folder_ / "killed").reset();
  const std::string table = ReadFile(FileOf(folder_ / "killed", ".sst"));
  int losses = 0;
  for (size_t offset = 0; offset < table.size(); offset += 3 * TestStep()) {
    const std::string path = Copy("killed");
    std::string bytes = table;
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
    WriteFile(FileOf(path, ".sst"), bytes);
    const Result<std::unique_ptr<Store>> opened = OpenRocksDbStore({.path = path});
    if (!opened.ok()) {
      EXPECT_EQ(opened.status().code(), Code::kDataLoss) << opened.status().ToString();
      ++losses;
      continue;
    }
    (*opened)->BeginService();
    for (int number = 0; number < kCommits; ++number) {
      const Result<std::optional<std::string>> got =
          (*opened)->Get(Space::kDocuments, KeyOf(number));
      if (got.ok()) {
        EXPECT_EQ(*got, ValueOf(number)) << "offset " << offset;
      } else {
        EXPECT_EQ(got.status().code(), Code::kDataLoss);
        EXPECT_EQ(got.status().message().find(".sst"), std::string::npos) << "for clients";
        ++losses;
      }
      const auto in_memory = (*opened)->GetIfInMemory(Space::kDocuments, KeyOf(number));
      if (in_memory && in_memory->ok()) {
        EXPECT_EQ(**in_memory, ValueOf(number)) << "offset " << offset;
      }
    }
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      const std::unique_ptr<Snapshot> snapshot = (*opened)->NewSnapshot();
      const std::unique_ptr<Cursor> cursor = snapshot->Scan(Space::kDocuments, {}, direction);
      int seen = 0;
      for (; cursor->Valid(); cursor->Next()) ++seen;
      if (cursor->status().ok()) {
        EXPECT_EQ(seen, kCommits) << "offset " << offset;
      } else {
        EXPECT_EQ(cursor->status().code(), Code::kDataLoss);
        EXPECT_EQ(cursor->status().message().find(".sst"), std::string::npos) << "for clients";
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(losses, 0);
}

}  // namespace
}  // namespace hearth::storage
