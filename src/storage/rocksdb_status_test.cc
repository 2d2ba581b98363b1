#include "storage/rocksdb_status.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hearth::storage {
namespace {

using RocksStatus = rocksdb::Status;

const std::string kFolder = "/srv/secret/data";

// What RocksDB says if a file of kFolder fails, and our code for it.
std::vector<std::pair<RocksStatus, Code>> Failures() {
  const std::string table = kFolder + "/db/000123.sst";
  return {
      {RocksStatus::IOError("While open a file for random read: " + table, "No such file"),
       Code::kUnavailable},
      {RocksStatus::NoSpace("While appending to file: " + kFolder + "/db/000124.log", "No space"),
       Code::kResourceExhausted},
      {RocksStatus::Corruption("block checksum mismatch in " + table, "offset 4096 size 17"),
       Code::kDataLoss},
      {RocksStatus::Aborted(table), Code::kUnavailable},
      {RocksStatus::InvalidArgument(table), Code::kUnavailable},
      {RocksStatus::ShutdownInProgress(table), Code::kUnavailable},
  };
}

TEST(FromRocksDb, KeepsTheMessage) {
  EXPECT_EQ(FromRocksDb(RocksStatus::OK()), Status());
  for (const auto& [failure, code] : Failures()) {
    const Status status = FromRocksDb(failure);
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find(kFolder), std::string::npos) << status.message();
  }
}

TEST(ErrorReports, NameFilesOnlyUntilServiceBegins) {
  ErrorReports reports;
  for (const auto& [failure, code] : Failures())
    EXPECT_EQ(reports.Of(failure), FromRocksDb(failure));
  reports.BeginService();
  EXPECT_EQ(reports.Of(RocksStatus::OK()), Status());
  for (const auto& [failure, code] : Failures()) {
    const Status status = reports.Of(failure);
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_FALSE(status.message().empty());
    for (const char* part : {"/", "secret", "sst", "0012", "offset"}) {
      EXPECT_EQ(status.message().find(part), std::string::npos) << part << ": " << status.message();
    }
  }
}

}  // namespace
}  // namespace hearth::storage
