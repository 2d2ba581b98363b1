#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/connected_client.h"
#include "base/mutex.h"
#include "base/status.h"
#include "documents/database.h"
#include "storage/store.h"

namespace hearth::documents {

// All databases by name. A database that is not on disk is known only while somebody has a handle
// to it: reading from databases that do not exist leaves nothing behind.
//
// Threads: safe for concurrent use. Ownership: shares the databases on disk, and those whose first
// commit is under way, with the holders of their handles.
class Catalog {
 public:
  static constexpr size_t kDatabasesMaxDefault = 10'000;
  // A smaller maximum is not shared by client: whoever sets it has counted the databases.
  static constexpr size_t kSharedMaximumMin = 256;
  // Expired entries of databases without handles are removed whenever there are this many, or as
  // many as entries in use.
  static constexpr size_t kUnwrittenKeptMax = 1'024;

  // Reads the databases that are on disk. At most `databases_max` will be created; if there are
  // more already, all of them are kept.
  static Result<std::unique_ptr<Catalog>> Load(const storage::Store& store, size_t databases_max);

  // The database called `name`; never null. All handles of one name are to the same object.
  DatabaseHandle Open(const model::DatabaseName& name) EXCLUDES_LOCK(mutex_);

  // Encloses a commit that may create the database. ResourceExhausted if there are too many, or if
  // this client has created its share (base/fair_share.h) of those since the start.
  Status BeginCreation(Database& database, ClientKey client) EXCLUDES_LOCK(mutex_);
  void EndCreation(Database& database) EXCLUDES_LOCK(mutex_);

  // Forgets a database that was deleted on disk: its name is free again.
  void Remove(const Database& database) EXCLUDES_LOCK(mutex_);

  // The databases that are on disk.
  std::vector<DatabaseHandle> Stored() const EXCLUDES_LOCK(mutex_);

  // The numbers of databases that were never written and have no handles. Call Recycle with them
  // once nothing that was kept under these numbers is left.
  std::vector<model::DatabaseNumber> TakeUnused() EXCLUDES_LOCK(mutex_);
  void Recycle(const std::vector<model::DatabaseNumber>& numbers) EXCLUDES_LOCK(mutex_);

  // Databases without a commit that have an entry in memory.
  size_t unwritten() const EXCLUDES_LOCK(mutex_);

 private:
  struct Kept {
    DatabaseHandle database;
    size_t creations = 0;  // Commits under way that may create it.
    // kInternal also if it was created before the start.
    ClientKey created_by = ClientKey::kInternal;
  };
  struct Unwritten {
    std::weak_ptr<Database> database;
    model::DatabaseNumber number;
  };

  explicit Catalog(size_t databases_max) : databases_max_(databases_max) {}

  using KeptByName = std::unordered_map<std::string, Kept>;

  Status CheckRoom(const Database& database, ClientKey client) const REQUIRES_LOCK(mutex_);
  void Erase(KeptByName::iterator kept) REQUIRES_LOCK(mutex_);
  void RemoveExpired() REQUIRES_LOCK(mutex_);
  model::DatabaseNumber NewNumber() REQUIRES_LOCK(mutex_);

  const size_t databases_max_;
  mutable Mutex mutex_;  // Leaf lock.
  uint32_t next_number_ GUARDED_BY(mutex_) = 1;
  std::vector<model::DatabaseNumber> free_numbers_ GUARDED_BY(mutex_);
  std::vector<model::DatabaseNumber> unused_numbers_ GUARDED_BY(mutex_);
  // On disk, or about to be.
  KeptByName databases_ GUARDED_BY(mutex_);
  // How many of them each client has created since the start.
  std::unordered_map<ClientKey, size_t> of_client_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, Unwritten> unwritten_ GUARDED_BY(mutex_);
  size_t expired_checked_at_ GUARDED_BY(mutex_) = kUnwrittenKeptMax;
};

}  // namespace hearth::documents
