// Single documents: writes and reading them back.
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

TEST_P(TransportContract, NamesOfReferences) {
  const DocumentReference message = db_.Doc("rooms/r1/messages/m1");
  EXPECT_EQ(message.id(), "m1");
  EXPECT_EQ(message.path(), "rooms/r1/messages/m1");
  EXPECT_TRUE(message.name().ends_with("/documents/rooms/r1/messages/m1")) << message.name();
  EXPECT_EQ(message.parent().path(), "rooms/r1/messages");
  EXPECT_EQ(message.parent().id(), "messages");
  EXPECT_EQ(message.parent().parent()->path(), "rooms/r1");
  EXPECT_EQ(db_.Collection("rooms").parent(), std::nullopt);
  EXPECT_EQ(db_.Collection("rooms").Doc("r1").Collection("messages").Doc("m1").path(),
            message.path());
  EXPECT_EQ(db_.Collection("rooms").Doc("r1/messages/m1").path(), message.path());
  const std::string new_id = db_.Collection("rooms").Doc().id();
  EXPECT_EQ(new_id.size(), 20u);
  EXPECT_NE(new_id, db_.Collection("rooms").Doc().id());
}

TEST_P(TransportContract, MalformedPathsAreSaidByWhateverIsDoneWithThem) {
  const DocumentReference no_document = db_.Doc("rooms");
  EXPECT_EQ(CodeOf(no_document.Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(no_document.Set({})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(no_document.ListCollections()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(no_document.Collection("messages").Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(no_document.parent().Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(db_.GetAll({no_document})), Code::kInvalidArgument);
  EXPECT_EQ(db_.RecursiveDelete(no_document).code(), Code::kInvalidArgument);
  const CollectionReference no_collection = db_.Collection("rooms/r1");
  EXPECT_EQ(CodeOf(no_collection.Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(no_collection.Where("a", Op::kEqual, 1).Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(no_collection.Add({})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(no_collection.ListDocuments()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(db_.Collection("rooms").Doc("").Get()), Code::kInvalidArgument);
  EXPECT_EQ(no_document.path(), "");
}

TEST_P(TransportContract, AddMakesAnId) {
  const Result<DocumentReference> added = db_.Collection("rooms").Add({{"size", 1}});
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(added->id().size(), 20u);
  EXPECT_EQ(Read(added->path()), (Map{{"size", 1}}));
}

TEST_P(TransportContract, MergeKeepsTheRest) {
  Put("rooms/r1", {{"topic", "fire"}, {"at", Map{{"city", "Rom"}, {"street", "Via"}}}, {"x", 1}});
  const Map data{{"at", Map{{"city", "Paris"}}}, {"x", FieldValue::Delete()}, {"new", Map{}}};
  ASSERT_TRUE(db_.Doc("rooms/r1").Set(data, {.merge = true}).ok());
  EXPECT_EQ(
      Read("rooms/r1"),
      (Map{{"topic", "fire"}, {"at", Map{{"city", "Paris"}, {"street", "Via"}}}, {"new", Map{}}}));
  ASSERT_TRUE(db_.Doc("rooms/r2").Set({{"a", 1}}, {.merge = true}).ok());
  EXPECT_EQ(Read("rooms/r2"), (Map{{"a", 1}}));
  ASSERT_TRUE(db_.Doc("rooms/r3").Set({}, {.merge = true}).ok());
  EXPECT_EQ(Read("rooms/r3"), Map{});
}

TEST_P(TransportContract, MergeFieldsTakesOnlyThese) {
  Put("rooms/r1", {{"topic", "fire"}, {"at", Map{{"city", "Rom"}, {"street", "Via"}}}});
  const Map data{{"topic", "ice"}, {"at", Map{{"city", "Paris"}, {"street", "Rue"}}}, {"x", 1}};
  ASSERT_TRUE(db_.Doc("rooms/r1").Set(data, {.merge_fields = {"at.city", "x"}}).ok());
  EXPECT_EQ(Read("rooms/r1"),
            (Map{{"topic", "fire"}, {"at", Map{{"city", "Paris"}, {"street", "Via"}}}, {"x", 1}}));
  const Result<WriteResult> missing = db_.Doc("rooms/r1").Set(data, {.merge_fields = {"size"}});
  EXPECT_EQ(missing.status(), InvalidArgument("Input data is missing for field \"size\"."));
}

TEST_P(TransportContract, UpdateTakesPaths) {
  Put("rooms/r1", {{"topic", "fire"}, {"at", Map{{"city", "Rom"}, {"street", "Via"}}}});
  ASSERT_TRUE(db_.Doc("rooms/r1")
                  .Update({{"at.city", "Paris"},
                           {"topic", FieldValue::Delete()},
                           {"deep.`a.b`", 1},
                           {"gone.too", FieldValue::Delete()}})
                  .ok());
  EXPECT_EQ(Read("rooms/r1"),
            (Map{{"at", Map{{"city", "Paris"}, {"street", "Via"}}}, {"deep", Map{{"a.b", 1}}}}));
  ASSERT_TRUE(db_.Doc("rooms/r1").Update({{"at", Map{{"city", "Bonn"}}}}).ok());
  EXPECT_EQ(Read("rooms/r1"), (Map{{"at", Map{{"city", "Bonn"}}}, {"deep", Map{{"a.b", 1}}}}));
}

TEST_P(TransportContract, UpdatesThatCannotBe) {
  Put("rooms/r1", {{"a", 1}});
  const DocumentReference room = db_.Doc("rooms/r1");
  EXPECT_EQ(room.Update({}).status(), InvalidArgument("At least one field must be updated."));
  EXPECT_EQ(room.Update({{"a", 1}, {"a.b", 1}}).status(),
            InvalidArgument("Field \"a\" was specified multiple times."));
  EXPECT_EQ(CodeOf(room.Update({{"a..b", 1}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Update({{"a", Map{{"b", FieldValue::Delete()}}}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Update({{"a", 2}}, {.exists = false})), Code::kInvalidArgument);
  EXPECT_EQ(Read("rooms/r1"), (Map{{"a", 1}}));
}

TEST_P(TransportContract, DataThatCannotBe) {
  const DocumentReference room = db_.Doc("rooms/r1");
  EXPECT_EQ(CodeOf(room.Set({{"a", FieldValue::Delete()}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Create({{"a", FieldValue::Delete()}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Set({{"a", Array{FieldValue::ServerTimestamp()}}})),
            Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Set({{"a", Array{Map{{"b", FieldValue::Increment(1)}}}}})),
            Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Set({{"a", Array{Value(Array{1})}}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Set({{"__a__", 1}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Set({{"", 1}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Set({{"a", "\xff"}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Set({{"a", Reference{"no name"}}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Set({{"a", std::string(1'100'000, 'x')}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(room.Set({{"a", FieldValue::Increment("one")}})), Code::kInvalidArgument);
  EXPECT_FALSE(Exists("rooms/r1"));
}

TEST_P(TransportContract, TransformsInSets) {
  Put("rooms/r1", {{"count", 1}, {"other", 1}});
  ASSERT_TRUE(db_.Doc("rooms/r1")
                  .Set({{"count", FieldValue::Increment(1)},
                        {"in", Map{{"deep", FieldValue::Increment(5)}, {"plain", 1}}}},
                       {.merge = true})
                  .ok());
  EXPECT_EQ(Read("rooms/r1"),
            (Map{{"count", 2}, {"other", 1}, {"in", Map{{"deep", 5}, {"plain", 1}}}}));
  Put("rooms/r1", {{"count", FieldValue::Increment(1)}});
  EXPECT_EQ(Read("rooms/r1"), (Map{{"count", 1}}));
  ASSERT_TRUE(db_.Doc("rooms/r1")
                  .Set({{"count", FieldValue::Increment(1)}, {"x", FieldValue::Increment(1)}},
                       {.merge_fields = {"count"}})
                  .ok());
  EXPECT_EQ(Read("rooms/r1"), (Map{{"count", 2}}));
}

TEST_P(TransportContract, DeleteIsDone) {
  Put("rooms/r1", {});
  const Result<WriteResult> deleted = db_.Doc("rooms/r1").Delete();
  ASSERT_TRUE(deleted.ok());
  EXPECT_GT(deleted->write_time, Timestamp());
  EXPECT_FALSE(Exists("rooms/r1"));
  EXPECT_TRUE(db_.Doc("rooms/r1").Delete().ok()) << "what is gone can be deleted";
  EXPECT_EQ(CodeOf(db_.Doc("rooms/r1").Delete({.exists = true})), Code::kNotFound);
}

TEST_P(TransportContract, PreconditionsOnUpdateTimes) {
  const Result<WriteResult> first = db_.Doc("rooms/r1").Set({{"size", 1}});
  const Result<WriteResult> second = db_.Doc("rooms/r1").Set({{"size", 2}});
  ASSERT_TRUE(first.ok() && second.ok());
  const DocumentReference room = db_.Doc("rooms/r1");
  EXPECT_EQ(CodeOf(room.Update({{"size", 3}}, {.last_update_time = first->write_time})),
            Code::kFailedPrecondition);
  EXPECT_EQ(CodeOf(room.Delete({.last_update_time = first->write_time})),
            Code::kFailedPrecondition);
  EXPECT_EQ(CodeOf(room.Delete({.exists = true, .last_update_time = second->write_time})),
            Code::kInvalidArgument);
  EXPECT_EQ(Read("rooms/r1"), (Map{{"size", 2}}));
  EXPECT_TRUE(room.Update({{"size", 3}}, {.last_update_time = second->write_time}).ok());
}

TEST_P(TransportContract, ABatchHappensTogether) {
  Put("rooms/r2", {{"size", 1}});
  Put("rooms/r3", {{"size", 1}});
  WriteBatch batch = db_.Batch();
  batch.Create(db_.Doc("rooms/r1"), {{"size", 1}})
      .Update(db_.Doc("rooms/r2"), {{"size", 2}})
      .Delete(db_.Doc("rooms/r3"))
      .Set(db_.Doc("rooms/r4"), {{"size", 4}});
  EXPECT_EQ(batch.size(), 4u);
  const Result<std::vector<WriteResult>> results = batch.Commit();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ASSERT_EQ(results->size(), 4u);
  for (const WriteResult& result : *results) {
    EXPECT_EQ(result.write_time, results->at(0).write_time);
  }
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_EQ(IdsOf(db_.Collection("rooms")), (Ids{"r1", "r2", "r4"}));
  EXPECT_EQ(Read("rooms/r2"), (Map{{"size", 2}}));
}

TEST_P(TransportContract, ABatchThatFailsDoesNothing) {
  WriteBatch batch = db_.Batch();
  batch.Set(db_.Doc("rooms/r1"), {}).Update(db_.Doc("rooms/none"), {{"size", 2}});
  EXPECT_EQ(CodeOf(batch.Commit()), Code::kNotFound);
  EXPECT_FALSE(Exists("rooms/r1"));

  batch.Set(db_.Doc("rooms/r1"), {}).Set(db_.Doc("rooms"), {});
  EXPECT_EQ(CodeOf(batch.Commit()), Code::kInvalidArgument);
  EXPECT_FALSE(Exists("rooms/r1"));
  EXPECT_TRUE(batch.Commit().ok()) << "it is empty by now";
}

}  // namespace
}  // namespace hearth::client
