#include "documents/catalog.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "model/testing/documents.h"
#include "storage/memory_store.h"
#include "storage/testing/faulty_store.h"

namespace hearth::documents {
namespace {

class CatalogTest : public testing::Test {
 protected:
  std::unique_ptr<Catalog> Load() {
    Result<std::unique_ptr<Catalog>> loaded = Catalog::Load(*store_);
    EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
    return *std::move(loaded);
  }
  void PutMeta(const std::string& key, const std::string& value) {
    storage::Batch batch;
    batch.Put(storage::Space::kMeta, key, value);
    ASSERT_EQ(store_->Commit(batch), Status());
  }
  // Writes what the first commit to a database writes.
  void PutDatabase(std::string_view database, uint32_t number) {
    PutMeta(std::string(kDatabaseKeyPrefix) + NameDatabase(database).text(),
            model::EncodeUint32(number));
  }

  std::unique_ptr<storage::Store> store_ = storage::NewMemoryStore();
};

TEST_F(CatalogTest, MakesDatabasesOnTheirFirstUse) {
  const std::unique_ptr<Catalog> catalog = Load();
  Database* first = *catalog->Open(NameDatabase());
  Database* second = *catalog->Open(NameDatabase("second"));
  EXPECT_EQ(first->number, model::DatabaseNumber{1});
  EXPECT_EQ(second->number, model::DatabaseNumber{2});
  EXPECT_EQ(first->name, NameDatabase());
  EXPECT_FALSE(first->is_on_disk);
  EXPECT_EQ(*catalog->Open(NameDatabase()), first);
}

TEST_F(CatalogTest, DatabasesOfTwoProjectsAreTwo) {
  const std::unique_ptr<Catalog> catalog = Load();
  Database* first = *catalog->Open(*model::DatabaseName::Parse("projects/a/databases/(default)"));
  Database* second = *catalog->Open(*model::DatabaseName::Parse("projects/b/databases/(default)"));
  EXPECT_NE(first->number, second->number);
}

TEST_F(CatalogTest, RemembersWhatIsOnDisk) {
  PutDatabase("(default)", 3);
  PutDatabase("second", 5);
  PutMeta("commit_time", model::EncodeUint64(1));
  PutMeta("format", "1");
  const std::unique_ptr<Catalog> catalog = Load();
  EXPECT_EQ((*catalog->Open(NameDatabase()))->number, model::DatabaseNumber{3});
  EXPECT_EQ((*catalog->Open(NameDatabase("second")))->number, model::DatabaseNumber{5});
  EXPECT_TRUE((*catalog->Open(NameDatabase("second")))->is_on_disk);
  Database* fresh = *catalog->Open(NameDatabase("third"));
  EXPECT_EQ(fresh->number, model::DatabaseNumber{6});  // Never a number that existing keys may use.
  EXPECT_FALSE(fresh->is_on_disk);
}

TEST_F(CatalogTest, DamageIsReported) {
  const std::string key = std::string(kDatabaseKeyPrefix) + NameDatabase().text();
  PutMeta(key, "abc");
  EXPECT_EQ(Catalog::Load(*store_).status().code(), Code::kDataLoss);
  PutMeta(key, model::EncodeUint32(1));
  PutMeta(std::string(kDatabaseKeyPrefix) + "nonsense", model::EncodeUint32(2));
  EXPECT_EQ(Catalog::Load(*store_).status().code(), Code::kDataLoss);
}

TEST_F(CatalogTest, AFailingStoreIsReported) {
  PutDatabase("(default)", 1);
  storage::FaultyStore faulty(*store_);
  for (const size_t step : {1u, 2u}) {
    faulty.FailScan(step, Status(Code::kUnavailable, "disk"));
    EXPECT_EQ(Catalog::Load(faulty).status(), Status(Code::kUnavailable, "disk"));
  }
}

TEST_F(CatalogTest, IsBounded) {
  const std::unique_ptr<Catalog> catalog = Load();
  for (size_t i = 0; i < kDatabasesMax; ++i) {
    ASSERT_TRUE(catalog->Open(NameDatabase("d" + std::to_string(i))).ok());
  }
  EXPECT_EQ(catalog->Open(NameDatabase("another")).status(),
            Status(Code::kResourceExhausted, "too many databases: the limit is 100000"));
  EXPECT_TRUE(catalog->Open(NameDatabase("d7")).ok());
}

TEST_F(CatalogTest, ManyThreadsGetTheSameDatabases) {
  const std::unique_ptr<Catalog> catalog = Load();
  constexpr size_t kThreads = 4;
  constexpr size_t kDatabases = 200;
  std::vector<std::vector<Database*>> seen(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&catalog, &mine = seen[i]] {
      for (size_t number = 0; number < kDatabases; ++number) {
        mine.push_back(*catalog->Open(NameDatabase("d" + std::to_string(number))));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<model::DatabaseNumber> numbers;
  for (const Database* database : seen[0]) numbers.insert(database->number);
  EXPECT_EQ(numbers.size(), kDatabases);
  for (const std::vector<Database*>& mine : seen) EXPECT_EQ(mine, seen[0]);
}

}  // namespace
}  // namespace hearth::documents
