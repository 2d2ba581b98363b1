// Failed commits leave nothing behind, neither at once nor after a restart. Acknowledged commits
// are never lost.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>

#include "base/testing/metric_value.h"
#include "base/testing/test_seed.h"
#include "storage/rocksdb_open.h"
#include "storage/store_contract.h"
#include "storage/testing/faulty_file_system.h"

namespace hearth::storage {
namespace {

using Operation = Fault::Operation;
using Kind = Fault::Kind;

// A store on a faulty file system, next to a model of the commits it has acknowledged.
class FaultTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }

  void Open() {
    Result<std::unique_ptr<Store>> opened = OpenRocksDbStoreOn(Options(), files_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
  }
  void Reopen() {
    store_.reset();
    Open();
  }

  // Small buffers, so that flushes and compactions happen during the test.
  RocksDbOptions Options() {
    return {.path = path_, .write_buffer_bytes = size_t{128} << 10, .metrics = &metrics_};
  }

  Status Commit(const Batch& batch) {
    Status status = store_->Commit(batch);
    if (status.ok()) {
      for (const Batch::Change& change : batch.changes()) {
        auto& space = model_[static_cast<size_t>(change.space)];
        if (change.value) {
          space[change.key] = *change.value;
        } else {
          space.erase(change.key);
        }
      }
    }
    return status;
  }
  Status Put(const std::string& key, const std::string& value) {
    Batch batch;
    batch.Put(Space::kMeta, key, value);
    batch.Put(Space::kDocuments, key, value);
    return Commit(batch);
  }

  // After failures of background jobs the store heals, or refuses commits until it is restarted.
  void CommitOrRestart() {
    if (Put("healed", "1").ok()) return;
    Reopen();
    EXPECT_EQ(Put("healed", "1"), Status());
  }

  void CheckAgainstModel(const Store& store) const {
    const std::unique_ptr<Snapshot> snapshot = store.NewSnapshot();
    for (size_t space = 0; space < kSpaces; ++space) {
      const Entries expected(model_[space].begin(), model_[space].end());
      ASSERT_EQ(ScanAll(*snapshot, static_cast<Space>(space), {}, Direction::kForward), expected)
          << "space " << space;
    }
  }
  void CheckAgainstModel() const { CheckAgainstModel(*store_); }

  // Opens a copy of the folder in its current state, as after kill -9, and compares it with the
  // model.
  void CheckCopyAgainstModel() {
    const std::string copy = folder_ / ("copy" + std::to_string(copies_++));
    CopyAtOneMoment(path_, copy);
    Result<std::unique_ptr<Store>> opened = OpenRocksDbStore({.path = copy});
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    CheckAgainstModel(**opened);
  }
  void CheckPowerLossAgainstModel() {
    const std::string copy = folder_ / ("copy" + std::to_string(copies_++));
    files_->CopyAfterPowerLoss(path_, copy);
    Result<std::unique_ptr<Store>> opened = OpenRocksDbStore({.path = copy});
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    CheckAgainstModel(**opened);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "data";
  std::shared_ptr<FaultyFileSystem> files_ = std::make_shared<FaultyFileSystem>();
  Metrics metrics_;
  std::unique_ptr<Store> store_;
  std::array<std::map<std::string, std::string>, kSpaces> model_;
  int copies_ = 0;
};

struct LogFault {
  const char* name;
  Operation operation;
  Kind kind;
  Code code;
};

class LogFaultTest : public FaultTest, public testing::WithParamInterface<LogFault> {};

TEST_P(LogFaultTest, TheVeryFirstCommitFailsAndTheNextSucceeds) {
  files_->Inject({.operation = GetParam().operation, .kind = GetParam().kind});
  EXPECT_EQ(Put("a", "failed").code(), GetParam().code);
  CheckAgainstModel();
  CheckCopyAgainstModel();
  EXPECT_EQ(MetricValue(metrics_, "hearth_storage_healed_total"), 0);
  EXPECT_EQ(Put("b", "1"), Status());
  EXPECT_EQ(Put("a", "2"), Status());
  EXPECT_EQ(MetricValue(metrics_, "hearth_storage_healed_total"), 1);
  CheckAgainstModel();
  CheckCopyAgainstModel();
  CheckPowerLossAgainstModel();
  Reopen();
  CheckAgainstModel();
}

TEST_P(LogFaultTest, AFailureBetweenCommitsLeavesNoTrace) {
  ASSERT_EQ(Put("a", "1"), Status());
  files_->Inject({.operation = GetParam().operation, .kind = GetParam().kind, .name_part = "/db"});
  const Status failed = Put("a", "failed");
  if (GetParam().operation != Operation::kSyncFolder) {
    EXPECT_EQ(failed.code(), GetParam().code) << failed.ToString();
  }
  CheckAgainstModel();
  CheckCopyAgainstModel();
  EXPECT_EQ(Put("b", "1"), Status());
  CheckAgainstModel();
  CheckCopyAgainstModel();
  CheckPowerLossAgainstModel();
  Reopen();
  CheckAgainstModel();
}

TEST_P(LogFaultTest, WhileTheFaultLastsEveryCommitFails) {
  ASSERT_EQ(Put("a", "1"), Status());
  files_->Inject({.operation = GetParam().operation,
                  .kind = GetParam().kind,
                  .name_part = GetParam().operation == Operation::kSyncFolder ? "" : ".log",
                  .failing = Fault::kForever});
  for (int i = 0; i < 3; ++i) {
    IgnoreError(Put("a", "failed"), "the model notes whether it was acknowledged");
    CheckAgainstModel();
  }
  files_->Heal();
  CheckAgainstModel();
  EXPECT_EQ(Put("c", "1"), Status());
  CheckAgainstModel();
  CheckCopyAgainstModel();
  Reopen();
  CheckAgainstModel();
  EXPECT_EQ(Put("d", "1"), Status());
  CheckCopyAgainstModel();
}

INSTANTIATE_TEST_SUITE_P(
    All, LogFaultTest,
    testing::Values(
        LogFault{"Append", Operation::kAppend, Kind::kIoError, Code::kUnavailable},
        LogFault{"Sync", Operation::kSync, Kind::kIoError, Code::kUnavailable},
        LogFault{"SyncFolder", Operation::kSyncFolder, Kind::kIoError, Code::kUnavailable},
        LogFault{"AppendNoSpace", Operation::kAppend, Kind::kNoSpace, Code::kResourceExhausted},
        LogFault{"SyncNoSpace", Operation::kSync, Kind::kNoSpace, Code::kResourceExhausted}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(FaultTest, ALogThatCannotBeCutRefusesCommitsUntilItCan) {
  ASSERT_EQ(Put("a", "1"), Status());
  files_->Inject({.name_part = ".log", .failing = Fault::kForever});
  EXPECT_EQ(Put("a", "failed").code(), Code::kUnavailable);
  EXPECT_EQ(Put("a", "failed").code(), Code::kUnavailable);
  CheckAgainstModel();
  files_->Heal();
  EXPECT_EQ(Put("b", "2"), Status());
  CheckAgainstModel();
  CheckCopyAgainstModel();
  Reopen();
  CheckAgainstModel();
}

TEST_F(FaultTest, ALogThatCannotBeCutIsCutAtTheEnd) {
  ASSERT_EQ(Put("a", "1"), Status());
  // The commit's sync, then the cut.
  files_->Inject({.operation = Operation::kSync, .name_part = ".log", .failing = 2});
  EXPECT_EQ(Put("a", "failed").code(), Code::kUnavailable);
  Reopen();
  CheckAgainstModel();
}

// Clients see the errors of a store in service.
TEST_F(FaultTest, ErrorsInServiceDoNotNameFiles) {
  const auto fail = [&](Fault fault) {
    fault.failing = Fault::kForever;
    files_->Inject(std::move(fault));
    const Status failed = Put("a", std::string(200'000, 'x'));
    files_->Heal();
    EXPECT_FALSE(failed.ok());
    return failed.message();
  };
  const Fault io_error{.name_part = ".log"};
  const Fault full{.kind = Kind::kNoSpace, .name_part = ".log"};
  EXPECT_NE(fail(io_error).find(path_), std::string::npos);  // The operator sees these.
  store_->BeginService();
  for (const Fault& fault : {io_error, full}) {
    const std::string commit = fail(fault);
    EXPECT_EQ(commit.find(path_), std::string::npos) << commit;
    EXPECT_EQ(commit.find(".log"), std::string::npos) << commit;
    files_->Inject({.name_part = ".sst", .failing = Fault::kForever});
    const Status healing = Put("b", "1");
    files_->Heal();
    EXPECT_EQ(healing.message().find(path_), std::string::npos) << healing.message();
  }
}

TEST_F(FaultTest, ANearlyFullDiskHasNoRoomToGrow) {
  RocksDbOptions options = Options();
  options.reserve_bytes = 1'000;
  store_.reset();
  Result<std::unique_ptr<Store>> opened = OpenRocksDbStoreOn(options, files_);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  store_ = *std::move(opened);
  EXPECT_EQ(store_->CheckRoomToGrow(), Status());
  files_->SetFreeSpace(999);
  EXPECT_EQ(store_->CheckRoomToGrow().code(), Code::kResourceExhausted);
  EXPECT_EQ(MetricValue(metrics_, "hearth_storage_free_bytes"), 999);
  EXPECT_EQ(Put("a", "1"), Status());  // The reserve can be used.
  files_->SetFreeSpace(1'000);
  EXPECT_EQ(store_->CheckRoomToGrow(), Status());
  Reopen();  // Without a reserve.
  files_->SetFreeSpace(1);
  EXPECT_EQ(store_->CheckRoomToGrow(), Status());
}

class FlushFaultTest : public FaultTest, public testing::WithParamInterface<const char*> {};

// Table files and the MANIFEST: RocksDB writes them in the background.
TEST_P(FlushFaultTest, BackgroundFailuresLoseNothing) {
  for (const Kind kind : {Kind::kIoError, Kind::kNoSpace}) {
    files_->Inject({.kind = kind, .name_part = GetParam(), .failing = Fault::kForever});
    int failed = 0;
    for (int i = 0; i < 400 && failed < 3; ++i) {
      if (!Put("key" + std::to_string(i), std::string(2000, 'x')).ok()) ++failed;
    }
    EXPECT_EQ(failed, 3);
    CheckAgainstModel();
    files_->Heal();
    CommitOrRestart();
    CheckAgainstModel();
    CheckCopyAgainstModel();
    Reopen();
    CheckAgainstModel();
  }
}

INSTANTIATE_TEST_SUITE_P(All, FlushFaultTest, testing::Values(".sst", "MANIFEST"),
                         [](const auto& test) {
                           return test.param[0] == '.' ? std::string("Table")
                                                       : std::string("Manifest");
                         });

// Random commits under random faults, with copies, power failures and restarts in between.
TEST_F(FaultTest, RandomFaultsNeverLoseOrInventACommit) {
  const uint64_t seed = TestSeed();
  std::mt19937_64 random(seed);
  const auto below = [&random](size_t bound) { return random() % bound; };
  constexpr std::array<const char*, 4> kParts = {".log", ".sst", "MANIFEST", ""};
  int failures = 0;
  for (int step = 0; step < 600 && !HasFatalFailure(); ++step) {
    if (below(20) == 0) {
      files_->Inject({.operation = static_cast<Operation>(below(7)),
                      .kind = below(2) == 0 ? Kind::kIoError : Kind::kNoSpace,
                      .name_part = kParts[below(kParts.size())],
                      .skipped = static_cast<int>(below(6)),
                      .failing = below(4) == 0 ? Fault::kForever : static_cast<int>(below(4))});
    } else if (below(10) == 0) {
      files_->Heal();
    }
    Batch batch;
    for (size_t changes = 1 + below(5); changes > 0; --changes) {
      const auto space = static_cast<Space>(below(kSpaces));
      const std::string key = "key" + std::to_string(below(50));
      if (below(4) == 0) {
        batch.Delete(space, key);
      } else {
        batch.Put(space, key, std::to_string(step) + std::string(below(3000), 'x'));
      }
    }
    if (!Commit(batch).ok()) ++failures;
    CheckAgainstModel();
    if (below(60) == 0) {
      files_->Heal();
      Reopen();
      CheckAgainstModel();
    }
  }
  files_->Heal();
  CommitOrRestart();
  CheckCopyAgainstModel();
  CheckPowerLossAgainstModel();
  Reopen();
  CheckAgainstModel();
  RecordProperty("failed_commits", failures);
}

}  // namespace
}  // namespace hearth::storage
