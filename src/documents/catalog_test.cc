#include "documents/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "model/testing/documents.h"
#include "storage/memory_store.h"
#include "storage/testing/faulty_store.h"

namespace hearth::documents {
namespace {

using testing::HasSubstr;

class CatalogTest : public testing::Test {
 protected:
  std::unique_ptr<Catalog> Load(size_t databases_max = Catalog::kDatabasesMaxDefault) {
    Result<std::unique_ptr<Catalog>> loaded = Catalog::Load(*store_, databases_max);
    EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
    return *std::move(loaded);
  }
  Status LoadFails() { return Catalog::Load(*store_, Catalog::kDatabasesMaxDefault).status(); }
  void PutMeta(const std::string& key, const std::string& value) {
    storage::Batch batch;
    batch.Put(storage::Space::kMeta, key, value);
    ASSERT_EQ(store_->Commit(batch), Status());
  }
  // Writes what the first commit to a database writes.
  void PutDatabase(std::string_view database, uint32_t number) {
    PutMeta(std::string(kDatabaseKeyPrefix) + NameDatabase(database).text(),
            EncodeDatabaseRecord(
                {model::DatabaseNumber{number}, model::Timestamp::FromMicros(number * 1000)}));
  }
  // What a commit that creates the database does.
  static Status Create(Catalog& catalog, Database& database,
                       ClientKey client = ClientKey::kInternal) {
    Status status = catalog.BeginCreation(database, client);
    if (!status.ok()) return status;
    database.is_on_disk = true;
    catalog.EndCreation(database);
    return status;
  }

  std::unique_ptr<storage::Store> store_ = storage::NewMemoryStore();
};

TEST_F(CatalogTest, AllHandlesOfANameAreToOneDatabase) {
  const std::unique_ptr<Catalog> catalog = Load();
  const DatabaseHandle first = catalog->Open(NameDatabase());
  const DatabaseHandle second = catalog->Open(NameDatabase("second"));
  EXPECT_EQ(first->number, model::DatabaseNumber{1});
  EXPECT_EQ(second->number, model::DatabaseNumber{2});
  EXPECT_EQ(first->name, NameDatabase());
  EXPECT_FALSE(first->is_on_disk);
  EXPECT_EQ(catalog->Open(NameDatabase()), first);
}

TEST_F(CatalogTest, DatabasesOfTwoProjectsAreTwo) {
  const std::unique_ptr<Catalog> catalog = Load();
  const auto first = catalog->Open(*model::DatabaseName::Parse("projects/a/databases/(default)"));
  const auto second = catalog->Open(*model::DatabaseName::Parse("projects/b/databases/(default)"));
  EXPECT_NE(first->number, second->number);
}

TEST_F(CatalogTest, RemembersWhatIsOnDisk) {
  PutDatabase("(default)", 3);
  PutDatabase("second", 5);
  PutMeta("commit_time", model::EncodeUint64(1));
  PutMeta("format", "1");
  const std::unique_ptr<Catalog> catalog = Load();
  EXPECT_EQ(catalog->Open(NameDatabase())->number, model::DatabaseNumber{3});
  const DatabaseHandle second = catalog->Open(NameDatabase("second"));
  EXPECT_EQ(second->number, model::DatabaseNumber{5});
  EXPECT_TRUE(second->is_on_disk);
  EXPECT_EQ(second->created_micros, 5000);
  const DatabaseHandle fresh = catalog->Open(NameDatabase("third"));
  EXPECT_EQ(fresh->number, model::DatabaseNumber{6});  // Never a number that existing keys may use.
  EXPECT_FALSE(fresh->is_on_disk);
}

// Format 1 did not store when a database was created.
TEST_F(CatalogTest, ReadsRecordsOfFormat1) {
  PutMeta(std::string(kDatabaseKeyPrefix) + NameDatabase().text(), model::EncodeUint32(3));
  const std::unique_ptr<Catalog> catalog = Load();
  EXPECT_EQ(catalog->Open(NameDatabase())->number, model::DatabaseNumber{3});
  EXPECT_EQ(catalog->Open(NameDatabase())->created_micros, 0);
}

TEST_F(CatalogTest, TheNumberOfADatabaseThatIsBeingRemovedIsNotUsed) {
  PutDatabase("(default)", 3);
  PutMeta(std::string(kDatabaseRemainsKeyPrefix) + model::EncodeUint32(8), "its name");
  EXPECT_EQ(Load()->Open(NameDatabase("second"))->number, model::DatabaseNumber{9});
}

TEST_F(CatalogTest, DamageIsReported) {
  const std::string key = std::string(kDatabaseKeyPrefix) + NameDatabase().text();
  for (const std::string& bytes : {std::string("abc"), model::EncodeUint32(1) + "abc"}) {
    PutMeta(key, bytes);
    EXPECT_EQ(LoadFails().code(), Code::kDataLoss);
  }
  PutMeta(key, model::EncodeUint32(1));
  PutMeta(std::string(kDatabaseRemainsKeyPrefix) + "abc", "");
  EXPECT_EQ(LoadFails().code(), Code::kDataLoss);
  PutMeta(std::string(kDatabaseKeyPrefix) + "nonsense", model::EncodeUint32(2));
  EXPECT_EQ(LoadFails().code(), Code::kDataLoss);
}

TEST_F(CatalogTest, AFailingStoreIsReported) {
  PutDatabase("(default)", 1);
  storage::FaultyStore faulty(*store_);
  for (const size_t step : {1u, 2u}) {
    faulty.FailScan(step, Status(Code::kUnavailable, "disk"));
    EXPECT_EQ(Catalog::Load(faulty, 1).status(), Status(Code::kUnavailable, "disk"));
  }
}

TEST_F(CatalogTest, DatabasesThatAreOnlyReadLeaveNothingBehind) {
  const std::unique_ptr<Catalog> catalog = Load(10);
  for (size_t i = 0; i < 200'000; ++i) {
    const DatabaseHandle database = catalog->Open(NameDatabase("d" + std::to_string(i)));
    ASSERT_LE(catalog->unwritten(), Catalog::kUnwrittenKeptMax);
  }
  EXPECT_TRUE(catalog->Stored().empty());
  const DatabaseHandle real = catalog->Open(NameDatabase());
  EXPECT_EQ(Create(*catalog, *real), Status());
  EXPECT_EQ(catalog->Stored(), std::vector{real});
}

TEST_F(CatalogTest, NumbersThatWereNeverWrittenAreUsedAgain) {
  const std::unique_ptr<Catalog> catalog = Load();
  const DatabaseHandle held = catalog->Open(NameDatabase("held"));
  std::set<model::DatabaseNumber> numbers;
  for (size_t i = 0; i < 10 * Catalog::kUnwrittenKeptMax; ++i) {
    numbers.insert(catalog->Open(NameDatabase("d" + std::to_string(i)))->number);
    catalog->Recycle(catalog->TakeUnused());
  }
  EXPECT_LE(numbers.size(), 2 * Catalog::kUnwrittenKeptMax);
  EXPECT_FALSE(numbers.contains(held->number));
}

TEST_F(CatalogTest, AnUnwrittenDatabaseIsKeptWhileItIsUsed) {
  const std::unique_ptr<Catalog> catalog = Load();
  const DatabaseHandle held = catalog->Open(NameDatabase());
  for (size_t i = 0; i < 2 * Catalog::kUnwrittenKeptMax; ++i) {
    catalog->Open(NameDatabase("d" + std::to_string(i)));
  }
  EXPECT_EQ(catalog->Open(NameDatabase()), held);
}

TEST_F(CatalogTest, OnlyCreationsAreLimited) {
  const std::unique_ptr<Catalog> catalog = Load(2);
  const DatabaseHandle first = catalog->Open(NameDatabase("first"));
  const DatabaseHandle second = catalog->Open(NameDatabase("second"));
  const DatabaseHandle third = catalog->Open(NameDatabase("third"));
  EXPECT_EQ(Create(*catalog, *first), Status());
  EXPECT_EQ(Create(*catalog, *second), Status());
  const Status refused = Create(*catalog, *third);
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("third"));
  EXPECT_THAT(refused.message(), HasSubstr("the limit is 2 (--databases-max)"));
  EXPECT_EQ(Create(*catalog, *first), Status());  // Exists already.
  catalog->Remove(*first);
  EXPECT_EQ(Create(*catalog, *third), Status());
}

TEST_F(CatalogTest, NewDatabasesAreSharedByClient) {
  constexpr size_t kMax = Catalog::kSharedMaximumMin;
  constexpr ClientKey kGreedy{1};
  const std::unique_ptr<Catalog> catalog = Load(kMax);
  std::vector<DatabaseHandle> made;
  Status refused;
  for (size_t i = 0; i < kMax && refused.ok(); ++i) {
    const DatabaseHandle database = catalog->Open(NameDatabase("d" + std::to_string(i)));
    refused = Create(*catalog, *database, kGreedy);
    if (refused.ok()) made.push_back(database);
  }
  EXPECT_EQ(made.size(), kMax / 2);
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("this client has created 128 already"));
  EXPECT_THAT(refused.message(), HasSubstr("the limit is 256 (--databases-max)"));
  // Others get theirs, and what exists can be written by everybody.
  for (const ClientKey other : {ClientKey{2}, ClientKey{3}, ClientKey::kInternal}) {
    const std::string name = "of" + std::to_string(static_cast<uint64_t>(other));
    EXPECT_EQ(Create(*catalog, *catalog->Open(NameDatabase(name)), other), Status());
    EXPECT_EQ(Create(*catalog, *catalog->Open(NameDatabase(name)), kGreedy), Status());
  }
  // What is deleted, or was not created after all, no longer counts.
  const auto next = catalog->Open(NameDatabase("next"));
  EXPECT_FALSE(Create(*catalog, *next, kGreedy).ok());
  for (size_t i = 0; i < 4; ++i) catalog->Remove(*made[i]);
  EXPECT_EQ(catalog->BeginCreation(*next, kGreedy), Status());
  catalog->EndCreation(*next);
  EXPECT_EQ(Create(*catalog, *next, kGreedy), Status());
  EXPECT_FALSE(Create(*catalog, *catalog->Open(NameDatabase("last")), kGreedy).ok());
}

TEST_F(CatalogTest, ASmallLimitIsNotShared) {
  const std::unique_ptr<Catalog> catalog = Load(3);
  for (const char* name : {"first", "second", "third"}) {
    EXPECT_EQ(Create(*catalog, *catalog->Open(NameDatabase(name)), ClientKey{1}), Status());
  }
}

TEST_F(CatalogTest, ExistingDatabasesAreKeptWhateverTheLimit) {
  PutDatabase("first", 1);
  PutDatabase("second", 2);
  const std::unique_ptr<Catalog> catalog = Load(1);
  EXPECT_EQ(catalog->Stored().size(), 2u);
  const DatabaseHandle second = catalog->Open(NameDatabase("second"));
  EXPECT_EQ(Create(*catalog, *second), Status());
  EXPECT_FALSE(Create(*catalog, *catalog->Open(NameDatabase("third"))).ok());
}

TEST_F(CatalogTest, ACreationThatFailsTakesNoRoom) {
  const std::unique_ptr<Catalog> catalog = Load(1);
  const DatabaseHandle first = catalog->Open(NameDatabase("first"));
  ASSERT_EQ(catalog->BeginCreation(*first, ClientKey{1}), Status());
  ASSERT_EQ(catalog->BeginCreation(*first, ClientKey{1}),
            Status());  // Another commit, at the same time.
  catalog->EndCreation(*first);
  EXPECT_FALSE(Create(*catalog, *catalog->Open(NameDatabase("second"))).ok());
  catalog->EndCreation(*first);
  EXPECT_EQ(catalog->Open(NameDatabase("first")), first);
  EXPECT_EQ(Create(*catalog, *catalog->Open(NameDatabase("second"))), Status());
}

TEST_F(CatalogTest, TheNameOfARemovedDatabaseIsFree) {
  const std::unique_ptr<Catalog> catalog = Load();
  const DatabaseHandle old = catalog->Open(NameDatabase());
  ASSERT_EQ(Create(*catalog, *old), Status());
  old->is_deleted = true;
  catalog->Remove(*old);
  const DatabaseHandle fresh = catalog->Open(NameDatabase());
  EXPECT_NE(fresh->number, old->number);
  EXPECT_FALSE(fresh->is_on_disk);
  ASSERT_EQ(Create(*catalog, *fresh), Status());
  catalog->Remove(*old);  // No effect on its successor.
  EXPECT_EQ(catalog->Open(NameDatabase()), fresh);
}

TEST_F(CatalogTest, ManyThreadsGetTheSameDatabases) {
  const std::unique_ptr<Catalog> catalog = Load();
  constexpr size_t kThreads = 4;
  constexpr size_t kDatabases = 200;
  std::vector<std::vector<DatabaseHandle>> seen(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&catalog, &mine = seen[i]] {
      for (size_t number = 0; number < kDatabases; ++number) {
        mine.push_back(catalog->Open(NameDatabase("d" + std::to_string(number))));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<model::DatabaseNumber> numbers;
  for (const DatabaseHandle& database : seen[0]) numbers.insert(database->number);
  EXPECT_EQ(numbers.size(), kDatabases);
  for (const std::vector<DatabaseHandle>& mine : seen) EXPECT_EQ(mine, seen[0]);
}

}  // namespace
}  // namespace hearth::documents
