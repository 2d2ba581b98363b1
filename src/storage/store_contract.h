// For tests: the implementations of Store, and a fixture that runs a test on each of them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/memory_store.h"
#include "storage/rocksdb_store.h"
#include "storage/store.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::storage {

using Entries = std::vector<std::pair<std::string, std::string>>;
using Maybe = std::optional<std::string>;

struct Implementation {
  const char* name;
  Result<std::unique_ptr<Store>> (*open)(const std::string& path);
};

inline const Implementation kImplementations[] = {
    {"Memory",
     [](const std::string&) -> Result<std::unique_ptr<Store>> { return NewMemoryStore(); }},
    {"RocksDb",
     [](const std::string& path) { return OpenRocksDbStore(RocksDbOptions{.path = path}); }},
};

class StoreContractTest : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Store>> opened = GetParam().open(folder_ / "data");
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
  }

  void Put(Space space, const std::string& key, const std::string& value) {
    Batch batch;
    batch.Put(space, key, value);
    ASSERT_EQ(store_->Commit(batch), Status());
  }

  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

// A key of a stamped space.
inline std::string Stamped(const std::string& prefix, uint64_t stamp) {
  std::string key = prefix;
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(stamp >> shift));
  return key;
}

inline Entries Rest(Cursor& cursor) {
  Entries entries;
  for (; cursor.Valid(); cursor.Next()) entries.emplace_back(cursor.key(), cursor.value());
  EXPECT_EQ(cursor.status(), Status());
  return entries;
}

inline Entries ScanAll(const Snapshot& snapshot, Space space, const KeyRange& range,
                       Direction direction) {
  const std::unique_ptr<Cursor> cursor = snapshot.Scan(space, range, direction);
  return Rest(*cursor);
}

}  // namespace hearth::storage
