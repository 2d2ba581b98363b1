// Write-ahead logs that are missing or incomplete at the start: refused, unless the loss is
// accepted.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "storage/store_contract.h"

namespace hearth::storage {
namespace {

namespace fs = std::filesystem;

// Small buffers, so that there are several logs.
RocksDbOptions LossOptions(const std::string& path) {
  return {.path = path, .write_buffer_bytes = size_t{128} << 10};
}

class LossTest : public testing::Test {
 protected:
  // A store as kill -9 leaves it, with several logs. What the first one holds may have been flushed
  // by then; the commit to "last" is in the newest log only.
  void SetUp() override {
    Result<std::unique_ptr<Store>> store = OpenRocksDbStore(LossOptions(folder_ / "data"));
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    Batch first;
    first.Put(Space::kMeta, "first", "value");
    ASSERT_EQ((*store)->Commit(first), Status());
    while (Logs(folder_ / "data").size() < 3) {
      ASSERT_LT(commits_, 10'000) << "no second log";
      Batch batch;
      batch.Put(Space::kDocuments, "key" + std::to_string(commits_++), std::string(2'000, 'x'));
      ASSERT_EQ((*store)->Commit(batch), Status());
    }
    Batch last;
    last.Put(Space::kDocuments, "last", "value");
    ASSERT_EQ((*store)->Commit(last), Status());
    CopyAtOneMoment(folder_ / "data", path_);
  }

  // The names of the logs with data, oldest first.
  static std::set<std::string> Logs(const std::string& path) {
    std::set<std::string> logs;
    for (const auto& entry : fs::directory_iterator(path + "/db")) {
      std::error_code gone;
      const bool is_log = entry.path().extension() == ".log";
      if (is_log && entry.file_size(gone) > 0 && !gone) logs.insert(entry.path());
    }
    return logs;
  }

  void ExpectRefused(const std::string& file) {
    const Status refused = OpenRocksDbStore(LossOptions(path_)).status();
    EXPECT_EQ(refused.code(), Code::kDataLoss) << refused.ToString();
    EXPECT_NE(refused.message().find(file), std::string::npos) << refused.ToString();
    EXPECT_NE(refused.message().find("--accept-loss"), std::string::npos) << refused.ToString();
  }

  std::unique_ptr<Store> OpenAccepting() {
    RocksDbOptions options = LossOptions(path_);
    options.accept_loss = true;
    Result<std::unique_ptr<Store>> opened = OpenRocksDbStore(options);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  // The store works, also after a restart without accepting anything.
  void ExpectWorks(std::unique_ptr<Store> store) {
    Batch batch;
    batch.Put(Space::kMeta, "afterwards", "value");
    ASSERT_EQ(store->Commit(batch), Status());
    store.reset();
    Result<std::unique_ptr<Store>> again = OpenRocksDbStore(LossOptions(path_));
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(*(*again)->Get(Space::kMeta, "afterwards"), "value");
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "killed";
  int commits_ = 0;
};

TEST_F(LossTest, NothingIsMissing) {
  Result<std::unique_ptr<Store>> opened = OpenRocksDbStore(LossOptions(path_));
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  EXPECT_EQ(*(*opened)->Get(Space::kMeta, "first"), "value");
  EXPECT_EQ(*(*opened)->Get(Space::kDocuments, "last"), "value");
}

TEST_F(LossTest, AnyLogThatIsMissingIsRefused) {
  for (const std::string& log : Logs(path_)) {
    fs::rename(log, folder_ / "aside");
    ExpectRefused(log + " is missing");
    fs::rename(folder_ / "aside", log);
  }
}

TEST_F(LossTest, AllLogsMissingIsRefused) {
  const std::set<std::string> logs = Logs(path_);
  for (const std::string& log : logs) fs::remove(log);
  ExpectRefused(*logs.begin() + " is missing");
  std::unique_ptr<Store> store = OpenAccepting();
  EXPECT_EQ(*store->Get(Space::kDocuments, "last"), std::nullopt);
  ExpectWorks(std::move(store));
}

TEST_F(LossTest, AnyLogThatIsCutIsRefused) {
  for (const std::string& log : Logs(path_)) {
    const std::string copy = folder_ / "aside";
    fs::remove(copy);
    fs::copy_file(log, copy);
    fs::resize_file(log, fs::file_size(log) - 1);
    ExpectRefused(log);
    fs::copy_file(copy, log, fs::copy_options::overwrite_existing);
  }
  EXPECT_TRUE(OpenRocksDbStore(LossOptions(path_)).ok());
}

TEST_F(LossTest, AnAcceptedLossOfTheNewestLogKeepsTheOthers) {
  fs::remove(*Logs(path_).rbegin());
  std::unique_ptr<Store> store = OpenAccepting();
  EXPECT_EQ(*store->Get(Space::kMeta, "first"), "value");
  EXPECT_EQ(*store->Get(Space::kDocuments, "key0"), std::string(2'000, 'x'));
  EXPECT_EQ(*store->Get(Space::kDocuments, "last"), std::nullopt);
  ExpectWorks(std::move(store));
}

// What follows the loss is set aside: commits after a gap would contradict those before it.
TEST_F(LossTest, AfterAnAcceptedLossLaterLogsAreSetAside) {
  const std::set<std::string> logs = Logs(path_);
  const std::string first = *logs.begin();
  {
    std::fstream bytes(first, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp(static_cast<std::streamoff>(fs::file_size(first) / 2));
    bytes.put('?').put('!');
  }
  ExpectRefused(first);
  std::unique_ptr<Store> store = OpenAccepting();
  EXPECT_EQ(*store->Get(Space::kMeta, "first"), "value");
  EXPECT_EQ(*store->Get(Space::kDocuments, "last"), std::nullopt);
  for (const std::string& log : logs) {
    EXPECT_TRUE(fs::exists(path_ + "/lost/" + fs::path(log).filename().string())) << log;
  }
  ExpectWorks(std::move(store));
}

TEST_F(LossTest, AfterACleanStopNoLogIsNeeded) {
  ASSERT_TRUE(OpenRocksDbStore(LossOptions(path_)).ok());
  for (const std::string& log : Logs(path_)) fs::remove(log);
  Result<std::unique_ptr<Store>> opened = OpenRocksDbStore(LossOptions(path_));
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  EXPECT_EQ(*(*opened)->Get(Space::kMeta, "first"), "value");
  EXPECT_EQ(*(*opened)->Get(Space::kDocuments, "last"), "value");
}

// A shorter MANIFEST is an earlier state: its tables would be gone, and those that it does not know
// would be deleted. There is nothing to accept.
TEST_F(LossTest, AManifestThatIsCutIsRefused) {
  ASSERT_TRUE(OpenRocksDbStore(LossOptions(path_)).ok());  // Everything is in tables now.
  std::string manifest;
  for (const auto& entry : fs::directory_iterator(path_ + "/db")) {
    if (entry.path().filename().string().starts_with("MANIFEST-")) manifest = entry.path();
  }
  const size_t size = fs::file_size(manifest);
  for (size_t cut = 1; cut < size; cut += size / 40 + 1) {
    const std::string copy = folder_ / "cut";
    fs::remove_all(copy);
    fs::copy(path_, copy, fs::copy_options::recursive);
    fs::resize_file(copy + manifest.substr(path_.size()), size - cut);
    RocksDbOptions options = LossOptions(copy);
    options.accept_loss = true;
    const Status refused = OpenRocksDbStore(options).status();
    EXPECT_EQ(refused.code(), Code::kDataLoss) << cut << ": " << refused.ToString();
    EXPECT_NE(refused.message().find("MANIFEST-"), std::string::npos) << refused.ToString();
  }
}

// Data of an earlier version has no mark.
TEST_F(LossTest, WithoutAMarkTheStoreOpens) {
  fs::remove(path_ + "/MARK");
  Result<std::unique_ptr<Store>> opened = OpenRocksDbStore(LossOptions(path_));
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  EXPECT_EQ(*(*opened)->Get(Space::kMeta, "first"), "value");
  EXPECT_TRUE(fs::exists(path_ + "/MARK"));
}

TEST_F(LossTest, ADamagedMarkIsRefused) {
  {
    std::ofstream mark(path_ + "/MARK", std::ios::binary | std::ios::trunc);
    mark << std::string(8'192, 'x');
  }
  ExpectRefused(path_ + "/MARK");
  std::unique_ptr<Store> store = OpenAccepting();
  EXPECT_EQ(*store->Get(Space::kDocuments, "last"), "value");
  ExpectWorks(std::move(store));
}

}  // namespace
}  // namespace hearth::storage
