// Private to this folder: the folder that holds a store's data.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "rocksdb/file_system.h"

namespace hearth::storage {

// A data folder, locked against every other store in this and other processes, with a format that
// this program can read. docs/formats/storage.md has its layout.
//
// Ownership: the lock is held until destruction.
class DataFolder {
 public:
  enum class Contents {
    kNone,      // Nothing yet: create a database at db_path(), then call Finish.
    kDatabase,  // A database is at db_path().
  };

  // Errors: FailedPrecondition if `path` is in use, is not a folder, or holds something else or
  // data of another format; NotFound if its parent is missing; PermissionDenied; ResourceExhausted;
  // DataLoss if the database that should be there is missing; Unavailable for other I/O errors.
  static Result<std::unique_ptr<DataFolder>> Open(const std::string& path,
                                                  std::shared_ptr<rocksdb::FileSystem> files);
  ~DataFolder();
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  Contents contents() const { return contents_; }
  std::string db_path() const;
  std::string mark_path() const;   // The WalMark.
  std::string aside_path() const;  // Logs that are not used because of an accepted loss.

  // Call this once the missing database has been created. Until it returns OK, the next Open starts
  // over.
  Status Finish();
  // Call this once a database of an earlier format is open. Nothing of the new format may be stored
  // before it returns OK. No effect on a database of the current format.
  Status Upgrade();

 private:
  DataFolder(std::string path, std::shared_ptr<rocksdb::FileSystem> files);

  Status Lock();
  Status Inspect();
  Status Begin();
  Status SyncFolder();

  const std::string path_;
  const std::shared_ptr<rocksdb::FileSystem> files_;  // Shared with the database's environment.
  int lock_ = -1;
  Contents contents_ = Contents::kNone;
  bool has_earlier_format_ = false;
};

}  // namespace hearth::storage
