// A disk that is full when the server starts, and one that fills up under it.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>

#include "process/private_mount.h"
#include "process/process.h"

namespace hearth::process {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;
constexpr size_t kAttemptsMax = 2'000;
// Until nothing can be written at all.
const std::vector<std::string> kNoReserve = {"--disk-reserve-mib", "0"};

void ExpectFullDiskRefusal(ServerProcess& server) {
  ExpectRefusal(server, "");
  EXPECT_THAT(server.Stderr(), testing::ContainsRegex("is full|No space left on device"));
}

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = WhyNoMounts()) GTEST_SKIP() << *why;
    mount_ = std::make_unique<PrivateMount>(folder_.path(), 160 * kMebibyte);
  }

  // One commit of a new document. It is either acknowledged or fails because the disk is full.
  Code PutNext(FirestoreClient& client, size_t bytes) {
    const std::string path = "rooms/r" + std::to_string(tried_++);
    const std::string text(bytes, static_cast<char>('a' + tried_ % 26));
    const Status put = Put(client, path, text);
    EXPECT_TRUE(put.ok() || put.code() == Code::kResourceExhausted) << put.ToString() << "\n"
                                                                    << server_->Stderr();
    EXPECT_EQ(put.message().find(folder_.path()), std::string::npos) << put.message();
    if (put.ok()) {
      acknowledged_[path] = text;
    } else {
      refused_.push_back(path);
    }
    return put.code();
  }

  // Commits until the disk is full, and then a few more times.
  void Fill(FirestoreClient& client) {
    while (PutNext(client, 300'000) == Code::kOk) ASSERT_LT(tried_, kAttemptsMax);
    for (int i = 0; i < 30 && !client.is_lost(); ++i) {
      PutNext(client, i % 2 == 0 ? 100 : 100'000);
    }
    ASSERT_FALSE(client.is_lost());
  }

  // Nothing acknowledged is lost, and nothing refused is stored.
  void ExpectTruth(FirestoreClient& client) {
    ASSERT_NO_FATAL_FAILURE(ExpectAll(client, acknowledged_)) << server_->Stderr();
    for (const std::string& path : refused_) {
      EXPECT_EQ(Get(client, path).status().code(), Code::kNotFound) << path;
    }
  }

  const TemporaryFolder folder_;
  const std::string data_ = folder_ / "data";
  std::unique_ptr<PrivateMount> mount_;
  std::unique_ptr<ServerProcess> server_;
  size_t tried_ = 0;
  Texts acknowledged_;
  std::vector<std::string> refused_;
};

TEST_F(FullDisk, AtTheFirstStartIsSaidInOneLine) {
  for (const size_t free :
       {size_t{0}, size_t{4'096}, size_t{16'384}, size_t{65'536}, size_t{262'144}, kMebibyte}) {
    SCOPED_TRACE(free);
    mount_->FillUpTo(free);
    const auto refused = TryToServe(data_, kNoReserve);
    if (!refused->WaitUntilListening()) ExpectFullDiskRefusal(*refused);
    refused->Kill();
    mount_->Free();
    Serve(data_, kNoReserve)->Kill();  // A failed start does not prevent the next one.
    std::filesystem::remove_all(data_);
  }
}

TEST_F(FullDisk, CommitsFailReadsGoOnAndSpaceIsEnoughToHeal) {
  mount_->FillUpTo(40 * kMebibyte);
  server_ = Serve(data_, kNoReserve);
  {
    FirestoreClient client(server_->port());
    ASSERT_NO_FATAL_FAILURE(Fill(client));
    ExpectTruth(client);
    mount_->Free();
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(PutNext(client, 1'000), Code::kOk) << "commit " << i << " with space again";
    }
    ExpectTruth(client);
  }
  server_->Kill();
  server_ = Serve(data_, kNoReserve);
  FirestoreClient client(server_->port());
  ExpectTruth(client);
  EXPECT_EQ(PutNext(client, 1'000), Code::kOk);
}

TEST_F(FullDisk, FillsUpAgainAndAgain) {
  server_ = Serve(data_, kNoReserve);
  for (int round = 0; round < 5; ++round) {
    mount_->FillUpTo(mount_->free_bytes() / 6);
    FirestoreClient client(server_->port());
    ASSERT_NO_FATAL_FAILURE(Fill(client));
    mount_->Free();
    EXPECT_EQ(PutNext(client, 1'000), Code::kOk) << "round " << round;
    ExpectTruth(client);
  }
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait().code, 0) << server_->Stderr();
  server_ = Serve(data_, kNoReserve);
  FirestoreClient client(server_->port());
  ExpectTruth(client);
}

// The reserve is kept for deletes, which are written to the disk as well.
TEST_F(FullDisk, ANearlyFullDiskAcceptsDeletesOnly) {
  mount_->FillUpTo(110 * kMebibyte);
  server_ = Serve(data_, {"--disk-reserve-mib", "60"});
  FirestoreClient client(server_->port());
  while (PutNext(client, 300'000) == Code::kOk) ASSERT_LT(tried_, kAttemptsMax);
  const Status refused = Put(client, "rooms/refused", "text");
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_NE(refused.message().find("only deletes"), std::string::npos) << refused.message();
  EXPECT_EQ(refused.message().find(folder_.path()), std::string::npos) << refused.message();
  ExpectTruth(client);

  ASSERT_GT(acknowledged_.size(), 20u);
  for (int i = 0; i < 20; ++i) {
    const std::string path = acknowledged_.begin()->first;
    const Status deleted = Delete(client, path);
    EXPECT_TRUE(deleted.ok()) << deleted.ToString();
    acknowledged_.erase(path);
    refused_.push_back(path);
  }
  ExpectTruth(client);
  EXPECT_EQ(PutNext(client, 1'000), Code::kResourceExhausted);
  mount_->Free();
  EXPECT_EQ(PutNext(client, 1'000), Code::kOk) << "there is space again";
  ExpectTruth(client);
}

class FullDiskEnd : public FullDisk, public testing::WithParamInterface<int> {};

TEST_P(FullDiskEnd, NothingIsLostWhenTheServerEndsWhileTheDiskIsFull) {
  mount_->FillUpTo(40 * kMebibyte);
  {
    server_ = Serve(data_, kNoReserve);
    FirestoreClient client(server_->port());
    ASSERT_NO_FATAL_FAILURE(Fill(client));
    server_->Signal(GetParam());
    const support::Exit exit = server_->Wait();
    EXPECT_TRUE(GetParam() == SIGKILL || exit.code == 0) << server_->Stderr();
  }
  {  // It may need space to start. It then reports so.
    server_ = TryToServe(data_, kNoReserve);
    if (server_->WaitUntilListening()) {
      FirestoreClient client(server_->port());
      ExpectTruth(client);
    } else {
      ExpectFullDiskRefusal(*server_);
    }
    server_->Kill();
  }
  mount_->Free();
  server_ = Serve(data_, kNoReserve);
  FirestoreClient client(server_->port());
  ExpectTruth(client);
  EXPECT_EQ(PutNext(client, 1'000), Code::kOk);
}

INSTANTIATE_TEST_SUITE_P(Signals, FullDiskEnd, testing::Values(SIGTERM, SIGKILL),
                         [](const auto& signal) {
                           return signal.param == SIGTERM ? "Stop" : "Kill";
                         });

}  // namespace
}  // namespace hearth::process
