// For tests: the promises of the API for every transport.
//
// The suite is in the library `client_contract`. A test program links it and names the databases to
// run it on:
//
//   INSTANTIATE_TEST_SUITE_P(Embedded, TransportContract, testing::Values(...), BackendName);
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "client/firestore.h"

namespace hearth::client {

struct ContractBackend {
  std::string name;                  // Letters and digits.
  std::function<Firestore()> fresh;  // An empty database; the storage below may be shared.
  bool listeners = true;
};

inline std::string BackendName(const testing::TestParamInfo<ContractBackend>& info) {
  return info.param.name;
}
// Printed by GoogleTest with a failure.
inline void PrintTo(const ContractBackend& backend, std::ostream* out) { *out << backend.name; }

class TransportContract : public testing::TestWithParam<ContractBackend> {
 protected:
  // Test data: ends the test if it cannot be written.
  void Put(const std::string& path, const Map& data) {
    const Status status = db_.Doc(path).Set(data).status();
    ASSERT_TRUE(status.ok()) << path << ": " << status.ToString();
  }
  // The fields. Fails the test if the document does not exist.
  Map Read(const std::string& path) {
    const Result<DocumentSnapshot> snapshot = db_.Doc(path).Get();
    EXPECT_TRUE(snapshot.ok()) << path << ": " << snapshot.status().ToString();
    if (!snapshot.ok()) return {};
    EXPECT_TRUE(snapshot->exists()) << path;
    return snapshot->Data();
  }
  bool Exists(const std::string& path) {
    const Result<DocumentSnapshot> snapshot = db_.Doc(path).Get();
    EXPECT_TRUE(snapshot.ok()) << path << ": " << snapshot.status().ToString();
    return snapshot.ok() && snapshot->exists();
  }

  // Rooms a to f: ordered by size they are e, f, a, b, c, d.
  void PutRooms() {
    Put("rooms/a", {{"size", 1}, {"color", "red"}, {"tags", Array{"x", "y"}}});
    Put("rooms/b", {{"size", 2}, {"color", "blue"}, {"tags", Array{"y"}}});
    Put("rooms/c", {{"size", 2}, {"color", "red"}, {"tags", Array{}}});
    Put("rooms/d", {{"size", 3}, {"color", "green"}, {"tags", Array{"z"}}});
    Put("rooms/e", {{"size", nullptr}, {"color", "blue"}});
    Put("rooms/f", {{"size", std::nan("")}});
  }
  Query Rooms() const { return db_.Collection("rooms"); }
  Query BySize() const { return Rooms().OrderBy("size"); }
  // For cursors. Requires that it can be read.
  DocumentSnapshot Snapshot(const std::string& path) { return *db_.Doc(path).Get(); }

  Firestore db_ = GetParam().fresh();
};

// The ids of the results, in order.
using Ids = std::vector<std::string>;
inline Ids IdsOf(const QuerySnapshot& snapshot) {
  Ids ids;
  for (const DocumentSnapshot& document : snapshot.documents) ids.emplace_back(document.id());
  return ids;
}
// The same for a query. Fails the test on an error.
inline Ids IdsOf(const Query& query) {
  const Result<QuerySnapshot> snapshot = query.Get();
  EXPECT_TRUE(snapshot.ok()) << snapshot.status().ToString();
  return snapshot.ok() ? IdsOf(*snapshot) : Ids{};
}

template <typename T>
Code CodeOf(const Result<T>& result) {
  return result.status().code();
}

}  // namespace hearth::client
