// Private to this folder: the folder that holds a store's data.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "rocksdb/file_system.h"

namespace hearth::storage {

// A data folder, locked against every other store in this and in other processes, and known to be
// of a format that this program reads. docs/formats/storage.md has its layout.
//
// Ownership: the lock is held until destruction.
class DataFolder {
 public:
  enum class Contents {
    kNone,      // Nothing yet: make a database at db_path(), then call Finish.
    kDatabase,  // A database is at db_path().
  };

  // Errors: FailedPrecondition when `path` is in use, is not a folder, holds something else or data
  // of another format; NotFound when its parent is missing; PermissionDenied; ResourceExhausted;
  // DataLoss when the database that should be there is gone; Unavailable for other I/O.
  static Result<std::unique_ptr<DataFolder>> Open(const std::string& path,
                                                  std::shared_ptr<rocksdb::FileSystem> files);
  ~DataFolder();
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  Contents contents() const { return contents_; }
  std::string db_path() const;

  // The database that was missing has been made. Until this returns OK, the next Open starts over.
  Status Finish();

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
};

}  // namespace hearth::storage
