#include "client/bulk_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/testing/test_seed.h"
#include "client/firestore.h"
#include "client/testing/scripted_transport.h"

namespace hearth::client {
namespace {

using Outcomes = Result<std::vector<Result<TransportWriteResult>>>;

Outcomes AllWritten(const std::vector<request::Write>& writes) {
  return std::vector<Result<TransportWriteResult>>(writes.size(), TransportWriteResult{});
}

class BulkWriterTest : public testing::Test {
 protected:
  DocumentReference Doc(const std::string& id) { return db_.Collection("rooms").Doc(id); }

  std::shared_ptr<ScriptedTransport> transport_ = std::make_shared<ScriptedTransport>();
  Firestore db_{transport_};
};

TEST_F(BulkWriterTest, TriesAgainWhatMaySucceed) {
  Mutex mutex;
  std::map<std::string, int> attempts;
  transport_->on_batch_write = [&](const std::vector<request::Write>& writes) -> Outcomes {
    MutexLock lock(mutex);
    std::vector<Result<TransportWriteResult>> results;
    for (const request::Write& write : writes) {
      const int attempt = ++attempts[std::string(write.path.id())];
      if (write.path.id() == "never") {
        results.emplace_back(Status(Code::kNotFound, "never"));
      } else if (write.path.id() == "late" && attempt < 4) {
        results.emplace_back(Status(Code::kUnavailable, "late"));
      } else {
        results.emplace_back(TransportWriteResult{});
      }
    }
    return results;
  };
  BulkWriter writer = db_.Bulk();
  for (const char* id : {"late", "never", "fine"}) writer.Set(Doc(id), {});
  EXPECT_EQ(writer.Flush(), Status(Code::kNotFound, "never"));
  EXPECT_EQ(attempts, (std::map<std::string, int>{{"fine", 1}, {"late", 4}, {"never", 1}}));
}

TEST_F(BulkWriterTest, GivesUpAfterSoManyAttempts) {
  transport_->on_batch_write = [](const std::vector<request::Write>&) -> Outcomes {
    return Status(Code::kUnavailable, "nobody there");  // For all of them.
  };
  std::atomic<int> errors = 0;
  BulkWriter writer = db_.Bulk({.attempts_max = 3},
                               [&errors](const DocumentReference& document, const Status& error) {
                                 EXPECT_EQ(document.id(), "a");
                                 EXPECT_EQ(error, Status(Code::kUnavailable, "nobody there"));
                                 ++errors;
                               });
  writer.Set(Doc("a"), {});
  EXPECT_EQ(writer.Flush(), Status(Code::kUnavailable, "nobody there"));
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(transport_->calls().size(), 3u);
  EXPECT_TRUE(writer.Flush().ok());
}

TEST_F(BulkWriterTest, BatchesAreBoundedAndHaveEachDocumentOnce) {
  std::atomic<size_t> under_way = 0;
  std::atomic<size_t> most_under_way = 0;
  transport_->on_batch_write = [&](const std::vector<request::Write>& writes) -> Outcomes {
    const size_t now = ++under_way;
    for (size_t most = most_under_way;
         most < now && !most_under_way.compare_exchange_weak(most, now);) {
    }
    EXPECT_LE(writes.size(), 5u);
    std::set<std::string> paths;
    for (const request::Write& write : writes) paths.insert(write.path.path());
    EXPECT_EQ(paths.size(), writes.size());
    --under_way;
    return AllWritten(writes);
  };
  BulkWriter writer = db_.Bulk({.batch_writes_max = 5, .batches_in_flight_max = 2});
  for (int i = 0; i < 500; ++i) writer.Set(Doc(std::to_string(i % 50)), {});
  EXPECT_TRUE(writer.Flush().ok());
  EXPECT_LE(most_under_way, 2u);
}

TEST_F(BulkWriterTest, HoldsBackWhoIsTooFast) {
  constexpr size_t kQueuedMax = 10;
  Mutex mutex;
  CondVar changed;
  bool may_write = false;
  transport_->on_batch_write = [&](const std::vector<request::Write>& writes) -> Outcomes {
    MutexLock lock(mutex);
    while (!may_write) changed.Wait(mutex);
    return AllWritten(writes);
  };
  BulkWriter writer = db_.Bulk({.queued_writes_max = kQueuedMax});
  for (size_t i = 0; i < kQueuedMax; ++i) writer.Set(Doc(std::to_string(i)), {});
  std::atomic<bool> is_added = false;
  std::thread adder([&] {
    writer.Set(Doc("more"), {});
    is_added = true;
  });
  // It cannot have been added: the queue stays full until a write completes.
  EXPECT_FALSE(is_added);
  {
    MutexLock lock(mutex);
    may_write = true;
    changed.NotifyAll();
  }
  adder.join();
  EXPECT_TRUE(writer.Flush().ok());
}

TEST_F(BulkWriterTest, TheDestructorFlushes) {
  std::atomic<size_t> written = 0;
  transport_->on_batch_write = [&](const std::vector<request::Write>& writes) -> Outcomes {
    written += writes.size();
    return AllWritten(writes);
  };
  {
    BulkWriter writer = db_.Bulk();
    for (int i = 0; i < 50; ++i) writer.Delete(Doc(std::to_string(i)));
    const BulkWriter moved = std::move(writer);
  }
  EXPECT_EQ(written, 50u);
}

TEST_F(BulkWriterTest, EachDocumentHasItsWritesInOrderWhateverFails) {
  const uint64_t seed = TestSeed();
  Mutex mutex;
  Dice dice(seed);
  std::map<std::string, std::vector<int64_t>> written;
  transport_->on_batch_write = [&](const std::vector<request::Write>& writes) -> Outcomes {
    MutexLock lock(mutex);
    if (dice.OneIn(10)) return Status(Code::kAborted, "all of it");
    std::vector<Result<TransportWriteResult>> results;
    for (const request::Write& write : writes) {
      if (dice.OneIn(10)) {
        results.emplace_back(Status(Code::kResourceExhausted, "this one"));
        continue;
      }
      written[write.path.path()].push_back(write.fields.view().Find("i")->integer());
      results.emplace_back(TransportWriteResult{});
    }
    return results;
  };
  constexpr int64_t kWrites = 30;
  constexpr int kDocuments = 8;
  BulkWriter writer = db_.Bulk({.batch_writes_max = 3, .attempts_max = 100});
  for (int64_t i = 0; i < kWrites; ++i) {
    for (int id = 0; id < kDocuments; ++id) writer.Set(Doc(std::to_string(id)), {{"i", i}});
  }
  EXPECT_TRUE(writer.Flush().ok());
  EXPECT_EQ(written.size(), static_cast<size_t>(kDocuments));
  for (const auto& [path, values] : written) {
    EXPECT_EQ(values.size(), static_cast<size_t>(kWrites)) << path;
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end())) << path;
  }
}

}  // namespace
}  // namespace hearth::client
