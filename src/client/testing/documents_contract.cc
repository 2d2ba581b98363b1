// Single documents: reads, writes, batches.
#include <algorithm>
#include <cmath>
#include <limits>

#include "client/testing/transport_contract.h"

namespace hearth::client {
namespace {

TEST_P(TransportContract, ReadsWhatItWrote) {
  const Map data{
      {"null", nullptr},
      {"yes", true},
      {"integer", std::numeric_limits<int64_t>::min()},
      {"double", 1.5},
      {"nan", std::nan("")},
      {"time", Timestamp::FromMicros(1'700'000'000'000'001)},
      {"text", "grüße"},
      {"bytes", Bytes{std::string("\0\xff", 2)}},
      {"reference", Reference{db_.Doc("rooms/r2").name()}},
      {"place", GeoPoint{48.1, 11.5}},
      {"list", Array{1, "two", Map{{"three", 3}}}},
      {"embedding", Vector{{1.0, 0.5}}},
      {"map", Map{{"empty", Map{}}, {"a.b", 1}}},
  };
  const Result<WriteResult> written = db_.Doc("rooms/r1").Set(data);
  ASSERT_TRUE(written.ok()) << written.status().ToString();

  const Result<DocumentSnapshot> snapshot = db_.Doc("rooms/r1").Get();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().ToString();
  ASSERT_TRUE(snapshot->exists());
  EXPECT_EQ(snapshot->Data(), data);
  EXPECT_EQ(snapshot->id(), "r1");
  EXPECT_EQ(snapshot->reference().path(), "rooms/r1");
  EXPECT_EQ(snapshot->create_time(), written->write_time);
  EXPECT_EQ(snapshot->update_time(), written->write_time);
  EXPECT_GE(snapshot->read_time(), written->write_time);
  EXPECT_EQ(snapshot->Get("map.`a.b`"), Value(1));
  EXPECT_EQ(snapshot->Get("map.nothing"), std::nullopt);
  EXPECT_EQ(snapshot->Get("not a path"), std::nullopt);
}

TEST_P(TransportContract, ADocumentThatIsNotThere) {
  const Result<DocumentSnapshot> snapshot = db_.Doc("rooms/none").Get();
  ASSERT_TRUE(snapshot.ok());
  EXPECT_FALSE(snapshot->exists());
  EXPECT_EQ(snapshot->Data(), Map{});
  EXPECT_EQ(snapshot->Get("field"), std::nullopt);
  EXPECT_EQ(snapshot->path().path(), "rooms/none");
}

}  // namespace
}  // namespace hearth::client
