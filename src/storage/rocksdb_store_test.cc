// The data folder, restarts and expiry.
#include "storage/rocksdb_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/testing/metric_value.h"
#include "base/testing/test_rounds.h"
#include "storage/rocksdb_open.h"
#include "storage/rocksdb_reads.h"
#include "storage/store_contract.h"
#include "storage/testing/faulty_file_system.h"

namespace hearth::storage {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RocksDbStoreTest : public testing::Test {
 protected:
  std::unique_ptr<Store> Open() {
    Result<std::unique_ptr<Store>> opened = OpenRocksDbStore({.path = path_});
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  Status OpenFails() { return OpenRocksDbStore({.path = path_}).status(); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(path_ + "/" + name, std::ios::trunc) << text;
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "data";
};

Status Put(Store& store, Space space, const std::string& key, const std::string& value) {
  Batch batch;
  batch.Put(space, key, value);
  return store.Commit(batch);
}

TEST_F(RocksDbStoreTest, MeasuresSyncsAndTheBlockCache) {
  Metrics metrics;
  std::unique_ptr<Store> store =
      *OpenRocksDbStore({.path = path_, .block_cache_bytes = size_t{8} << 20, .metrics = &metrics});
  EXPECT_EQ(MetricValue(metrics, "hearth_storage_sync_seconds_count"), 0);
  EXPECT_EQ(MetricValue(metrics, "hearth_storage_healed_total"), 0);
  EXPECT_EQ(MetricValue(metrics, "hearth_storage_block_cache_bytes_max"), 8 << 20);
  const double before = MetricValue(metrics, "hearth_storage_block_cache_bytes").value();
  const std::string value(size_t{2} << 20, 'v');
  for (const char* key : {"a", "b"}) {
    ASSERT_EQ(Put(*store, Space::kDocuments, key, value), Status());
  }
  EXPECT_EQ(MetricValue(metrics, "hearth_storage_sync_seconds_count"), 2);
  EXPECT_EQ(MetricValue(metrics, "hearth_storage_sync_seconds_bucket{le=\"+Inf\"}"), 2);
  EXPECT_GT(MetricValue(metrics, "hearth_storage_sync_seconds_sum").value(), 0);
  EXPECT_GT(MetricValue(metrics, "hearth_storage_block_cache_bytes").value(),
            before + static_cast<double>(value.size()));
  ASSERT_EQ(store->Commit(Batch()), Status());
  EXPECT_EQ(MetricValue(metrics, "hearth_storage_sync_seconds_count"), 2);
  store.reset();
  EXPECT_EQ(MetricValue(metrics, "hearth_storage_block_cache_bytes"), std::nullopt);
}

// Data that is on disk but not in memory must be reported as such, whatever RocksDB returns for it.
TEST_F(RocksDbStoreTest, FindsInMemoryOnlyWhatIsThere) {
  constexpr int kKeys = 3'000;
  const auto key = [](int i) { return "key" + std::to_string(i * 7 % kKeys); };
  // Enough files that a start does not open all of them.
  const RocksDbOptions small{.path = path_,
                             .block_cache_bytes = size_t{1} << 20,
                             .write_buffer_bytes = size_t{256} << 10,
                             .table_file_bytes = size_t{16} << 10};
  std::mt19937_64 random(1);
  std::string value(1'000, 'v');
  for (char& c : value) c = static_cast<char>(random());  // Compressible data would need few files.
  {
    const std::unique_ptr<Store> store = *OpenRocksDbStore(small);
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_EQ(Put(*store, Space::kDocuments, key(i), value), Status());
    }
  }
  const std::unique_ptr<Store> store = *OpenRocksDbStore(small);
  int on_disk = 0;
  for (int i = 0; i < kKeys; ++i) {
    const auto found = store->GetIfInMemory(Space::kDocuments, key(i));
    if (!found) {
      ++on_disk;
    } else {
      ASSERT_EQ(**found, value) << key(i);
    }
    ASSERT_EQ(**store->Get(Space::kDocuments, key(i)), value);
  }
  EXPECT_GT(on_disk, 0);
}

// A cursor passes over many removed keys, as after the removal of a large collection.
class RemovedKeysTest : public RocksDbStoreTest, public testing::WithParamInterface<Direction> {
 protected:
  // Puts `count` keys between two others, and removes them again.
  void RemoveBetween(size_t count) {
    const auto key = [](size_t i) { return "k" + std::to_string(1'000'000 + i); };
    Batch puts;
    puts.Put(Space::kDocuments, "a", "first");
    puts.Put(Space::kDocuments, "z", "last");
    for (size_t i = 0; i < count; ++i) puts.Put(Space::kDocuments, key(i), "x");
    ASSERT_EQ(store_->Commit(puts), Status());
    Batch deletes;
    for (size_t i = 0; i < count; ++i) deletes.Delete(Space::kDocuments, key(i));
    ASSERT_EQ(store_->Commit(deletes), Status());
  }
  std::unique_ptr<Cursor> Scan(KeyRange range, const PauseFunction& pause) {
    snapshot_ = store_->NewSnapshot();
    return snapshot_->Scan(Space::kDocuments, std::move(range), GetParam(), &pause);
  }

  const std::unique_ptr<Store> store_ = Open();
  std::unique_ptr<Snapshot> snapshot_;
};

TEST_P(RemovedKeysTest, ACursorPausesAmongManyOfThem) {
  RemoveBetween(20 * kSkippedKeysMax);
  size_t pauses = 0;
  const PauseFunction pause = [&pauses] {
    ++pauses;
    return Status();
  };
  Entries expected = {{"a", "first"}, {"z", "last"}};
  if (GetParam() == Direction::kBackward) std::swap(expected[0], expected[1]);
  EXPECT_EQ(Rest(*Scan({}, pause)), expected);
  // A key may count twice: for its removal, and for what was removed.
  EXPECT_GE(pauses, 10u);
  EXPECT_LE(pauses, 50u);
  pauses = 0;
  const auto within = Scan({"b", "y"}, pause);
  EXPECT_FALSE(within->Valid());
  EXPECT_EQ(within->status(), Status());
  EXPECT_GE(pauses, 10u);
  pauses = 0;
  within->Seek("k1005000");
  EXPECT_FALSE(within->Valid());
  EXPECT_GE(pauses, 4u);
}

TEST_P(RemovedKeysTest, AmongFewItDoesNotPause) {
  RemoveBetween(kSkippedKeysMax / 3);
  const PauseFunction pause = [] {
    ADD_FAILURE();
    return Status();
  };
  EXPECT_EQ(Rest(*Scan({}, pause)).size(), 2u);
}

TEST_P(RemovedKeysTest, AnErrorEndsTheScan) {
  RemoveBetween(20 * kSkippedKeysMax);
  const Status cancelled(Code::kCancelled, "enough");
  size_t pauses = 0;
  const PauseFunction pause = [&] { return ++pauses < 3 ? Status() : cancelled; };
  const auto cursor = Scan({}, pause);
  ASSERT_TRUE(cursor->Valid());
  cursor->Next();
  EXPECT_FALSE(cursor->Valid());
  EXPECT_EQ(cursor->status(), cancelled);
  EXPECT_EQ(pauses, 3u);
}

TEST_P(RemovedKeysTest, WithoutAPauseItGoesOn) {
  RemoveBetween(3 * kSkippedKeysMax);
  EXPECT_EQ(ScanAll(*store_->NewSnapshot(), Space::kDocuments, {}, GetParam()).size(), 2u);
  EXPECT_EQ(Rest(*Scan({}, PauseFunction())).size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Directions, RemovedKeysTest,
                         testing::Values(Direction::kForward, Direction::kBackward),
                         [](const auto& each) {
                           return each.param == Direction::kForward ? "Forward" : "Backward";
                         });

TEST_F(RocksDbStoreTest, KeepsEverythingAcrossARestart) {
  const std::string big(size_t{3} << 20, 'x');
  for (int round = 0; round < 3; ++round) {
    const std::unique_ptr<Store> store = Open();
    for (size_t space = 0; space < kSpaces; ++space) {
      const auto at = static_cast<Space>(space);
      for (int before = 0; before < round; ++before) {
        EXPECT_EQ(*store->Get(at, "key" + std::to_string(before)), std::to_string(before));
      }
      ASSERT_EQ(Put(*store, at, "key" + std::to_string(round), std::to_string(round)), Status());
    }
    ASSERT_EQ(Put(*store, Space::kDocuments, "big", big), Status());
  }
  const std::unique_ptr<Store> store = Open();
  EXPECT_EQ(*store->Get(Space::kDocuments, "big"), big);
}

TEST_F(RocksDbStoreTest, WhatIsNotInMemoryIsLeftToGet) {
  ASSERT_EQ(Put(*Open(), Space::kDocuments, "a", "1"), Status());
  const std::unique_ptr<Store> store = Open();
  EXPECT_FALSE(store->GetIfInMemory(Space::kDocuments, "a").has_value());
  EXPECT_EQ(*store->Get(Space::kDocuments, "a"), "1");
  const auto now = store->GetIfInMemory(Space::kDocuments, "a");
  ASSERT_TRUE(now.has_value());
  EXPECT_EQ(**now, "1");
}

TEST_F(RocksDbStoreTest, AFolderIsOpenedOnceAtATime) {
  std::unique_ptr<Store> store = Open();
  const Status second = OpenFails();
  EXPECT_EQ(second.code(), Code::kFailedPrecondition);
  EXPECT_EQ(second.message(),
            path_ + " is in use by another hearth process (pid " + std::to_string(getpid()) + ")");
  store.reset();
  store = Open();
  EXPECT_NE(store, nullptr);
}

TEST_F(RocksDbStoreTest, AnotherFormatIsRefused) {
  Open().reset();
  Write("HEARTH", "hearth format 7\n");
  const Status other = OpenFails();
  EXPECT_EQ(other.code(), Code::kFailedPrecondition);
  EXPECT_EQ(other.message(),
            "data in " + path_ + " has format 7; this hearth reads formats 1 to 2");
  Write("HEARTH", "");
  EXPECT_EQ(OpenFails().code(), Code::kDataLoss);
  fs::remove(path_ + "/HEARTH");
  const Status missing = OpenFails();
  EXPECT_EQ(missing.code(), Code::kFailedPrecondition);
  EXPECT_THAT(missing.message(), HasSubstr("has no format number"));
  Write("HEARTH", "hearth format 2\n");
  EXPECT_NE(Open(), nullptr);
}

TEST_F(RocksDbStoreTest, AnEarlierFormatIsUpgradedAndItsDataKept) {
  {
    const std::unique_ptr<Store> store = Open();
    ASSERT_EQ(Put(*store, Space::kMeta, "a", "1"), Status());
  }
  // An upgrade that was interrupted before the rename starts over.
  for (const bool is_interrupted : {false, true}) {
    Write("HEARTH", "hearth format 1\n");
    if (is_interrupted) Write("HEARTH.new", "hearth format 2\n");
    const std::unique_ptr<Store> store = Open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(*store->Get(Space::kMeta, "a"), "1");
    std::ifstream file(path_ + "/HEARTH");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "hearth format 2\n");
    EXPECT_FALSE(fs::exists(path_ + "/HEARTH.new"));
  }
}

TEST_F(RocksDbStoreTest, AFolderWithSomethingElseIsRefusedAndLeftAlone) {
  fs::create_directory(path_);
  Write("holiday.jpg", "beach");
  const Status refused = OpenFails();
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("contains something other than Hearth data"));
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), fs::directory_iterator()), 1);
}

TEST_F(RocksDbStoreTest, AnEmptyFolderIsTaken) {
  fs::create_directory(path_);
  EXPECT_NE(Open(), nullptr);
}

TEST_F(RocksDbStoreTest, AnInterruptedCreationStartsOver) {
  for (const char* unfinished : {"", "hearth for", "hearth format 1\n", "hearth format 2\n"}) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    Write("HEARTH.new", unfinished);
    if (std::string(unfinished).ends_with('\n')) {
      fs::create_directory(path_ + "/db");
      Write("db/CURRENT", "half");
    }
    const std::unique_ptr<Store> store = Open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(Put(*store, Space::kMeta, "a", "1"), Status());
  }
}

TEST_F(RocksDbStoreTest, OddPathsGetAClearAnswer) {
  EXPECT_EQ(OpenRocksDbStore({.path = folder_ / "no/such"}).status().code(), Code::kNotFound);
  std::ofstream(folder_ / "file") << "text";
  EXPECT_EQ(OpenRocksDbStore({.path = folder_ / "file"}).status().code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(OpenRocksDbStore({.path = folder_ / "file/below"}).status().code(),
            Code::kFailedPrecondition);
}

TEST_F(RocksDbStoreTest, AReadOnlyFolderIsPermissionDenied) {
  fs::create_directory(path_);
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                             fs::perms::others_exec);
  fs::permissions(folder_.path(), fs::perms::others_exec, fs::perm_options::add);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;  // The superuser may write anywhere.
    if (getuid() == 0 && setuid(kNobody) != 0) _exit(1);
    const Status refused = OpenRocksDbStore({.path = path_}).status();
    _exit(static_cast<int>(refused.code()));
  }
  int ended = 0;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_EQ(WEXITSTATUS(ended), static_cast<int>(Code::kPermissionDenied));
}

// Whatever fails while a store is created is reported, and the next attempt succeeds.
TEST_F(RocksDbStoreTest, AFullDiskAtCreationIsResourceExhausted) {
  constexpr int kCallsMax = 200;  // More than it takes to create a store.
  int skipped = 0;
  for (; skipped < kCallsMax; skipped += static_cast<int>(TestStep())) {
    fs::remove_all(path_);
    const auto files = std::make_shared<FaultyFileSystem>();
    files->Inject({.kind = Fault::Kind::kNoSpace, .skipped = skipped, .failing = Fault::kForever});
    const Status full = OpenRocksDbStoreOn({.path = path_}, files).status();
    if (full.ok()) break;
    EXPECT_EQ(full.code(), Code::kResourceExhausted) << full.ToString();
    const std::unique_ptr<Store> store = Open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(Put(*store, Space::kMeta, "a", "1"), Status());
  }
  EXPECT_GT(skipped, 10);
  EXPECT_LT(skipped, kCallsMax);
}

// Expired keys, and only these, disappear as commits continue.
TEST_F(RocksDbStoreTest, ExpiredKeysVanish) {
  constexpr uint64_t kHorizon = 1000;
  const std::unique_ptr<Store> store =
      *OpenRocksDbStore({.path = path_, .write_buffer_bytes = size_t{128} << 10});
  for (const Space space : {Space::kDocuments, Space::kHistory, Space::kLog}) {
    Batch batch;
    batch.Put(space, Stamped("key", kHorizon - 1), "old");
    batch.Put(space, Stamped("key", kHorizon), "new");
    batch.Put(space, "short", "kept");
    ASSERT_EQ(store->Commit(batch), Status());
  }
  store->ExpireBefore(kHorizon);
  const auto gone = [&store](Space space) {
    return *store->Get(space, Stamped("key", kHorizon - 1)) == std::nullopt;
  };
  constexpr int kCommitsMax = 20'000;
  int commits = 0;
  while (commits < kCommitsMax && !(gone(Space::kHistory) && gone(Space::kLog))) {
    Batch batch;
    for (const Space space : {Space::kHistory, Space::kLog}) {
      // Around the expired key, so that compactions include its file.
      batch.Put(space, "a" + std::to_string(commits), std::string(2000, 'x'));
      batch.Put(space, "z" + std::to_string(commits), "");
    }
    ASSERT_EQ(store->Commit(batch), Status());
    ++commits;
  }
  EXPECT_LT(commits, kCommitsMax);
  for (const Space space : {Space::kHistory, Space::kLog}) {
    EXPECT_EQ(*store->Get(space, Stamped("key", kHorizon)), "new");
    EXPECT_EQ(*store->Get(space, "short"), "kept");
  }
  EXPECT_EQ(*store->Get(Space::kDocuments, Stamped("key", kHorizon - 1)), "old");
}

}  // namespace
}  // namespace hearth::storage
