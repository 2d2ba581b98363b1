// Multiple documents: GetAll, listings, recursive deletion.
#include <map>
#include <mutex>
#include <string>

#include "client/testing/transport_contract.h"

namespace hearth::client {
namespace {

Ids PathsOf(const std::vector<DocumentReference>& documents) {
  Ids paths;
  for (const DocumentReference& document : documents) paths.push_back(document.path());
  return paths;
}

Ids PathsOf(const std::vector<CollectionReference>& collections) {
  Ids paths;
  for (const CollectionReference& collection : collections) paths.push_back(collection.path());
  return paths;
}

TEST_P(TransportContract, GetAllKeepsTheOrder) {
  Put("rooms/a", {{"size", 1}});
  Put("rooms/b", {{"size", 2}});
  const auto snapshots = db_.GetAll(
      {db_.Doc("rooms/b"), db_.Doc("rooms/none"), db_.Doc("rooms/a"), db_.Doc("rooms/b")});
  ASSERT_TRUE(snapshots.ok()) << snapshots.status().ToString();
  ASSERT_EQ(snapshots->size(), 4u);
  EXPECT_EQ(snapshots->at(0).Data(), (Map{{"size", 2}}));
  EXPECT_FALSE(snapshots->at(1).exists());
  EXPECT_EQ(snapshots->at(1).id(), "none");
  EXPECT_EQ(snapshots->at(2).Data(), (Map{{"size", 1}}));
  EXPECT_EQ(snapshots->at(3).Data(), (Map{{"size", 2}}));
  EXPECT_EQ(snapshots->at(0).read_time(), snapshots->at(3).read_time());
  EXPECT_EQ(db_.GetAll({})->size(), 0u);
}

TEST_P(TransportContract, GetAllWithAMask) {
  Put("rooms/a", {{"size", 1}, {"at", Map{{"city", "Rom"}, {"street", "Via"}}}});
  const auto masked = db_.GetAll({db_.Doc("rooms/a")}, {.field_mask = {{"at.city", "none"}}});
  ASSERT_TRUE(masked.ok()) << masked.status().ToString();
  EXPECT_EQ(masked->at(0).Data(), (Map{{"at", Map{{"city", "Rom"}}}}));
  const auto names = db_.GetAll({db_.Doc("rooms/a")}, {.field_mask = Ids{}});
  ASSERT_TRUE(names.ok()) << names.status().ToString();
  EXPECT_TRUE(names->at(0).exists());
  EXPECT_EQ(names->at(0).Data(), Map{});
  EXPECT_EQ(CodeOf(db_.GetAll({db_.Doc("rooms/a")}, {.field_mask = Ids{"a..b"}})),
            Code::kInvalidArgument);
}

TEST_P(TransportContract, GetAllAtAnEarlierMoment) {
  const Result<WriteResult> first = db_.Doc("rooms/a").Set({{"size", 1}});
  ASSERT_TRUE(first.ok());
  Put("rooms/a", {{"size", 2}});
  const auto earlier = db_.GetAll({db_.Doc("rooms/a")}, {.read_time = first->write_time});
  ASSERT_TRUE(earlier.ok()) << earlier.status().ToString();
  EXPECT_EQ(earlier->at(0).Data(), (Map{{"size", 1}}));
  EXPECT_EQ(earlier->at(0).read_time(), first->write_time);
  const Timestamp long_ago = Timestamp::FromMicros(first->write_time.micros() - 7'200'000'000);
  EXPECT_EQ(CodeOf(db_.GetAll({db_.Doc("rooms/a")}, {.read_time = long_ago})),
            Code::kFailedPrecondition);
}

TEST_P(TransportContract, ListDocumentsHasTheMissingOnes) {
  Put("rooms/b", {});
  Put("rooms/a/messages/m1", {});
  Put("rooms/c/messages/m1/more/x", {});
  const auto documents = db_.Collection("rooms").ListDocuments();
  ASSERT_TRUE(documents.ok()) << documents.status().ToString();
  EXPECT_EQ(PathsOf(*documents), (Ids{"rooms/a", "rooms/b", "rooms/c"}));
  EXPECT_EQ(db_.Collection("none").ListDocuments()->size(), 0u);
}

TEST_P(TransportContract, ListDocumentsHasAllPages) {
  constexpr size_t kDocuments = 650;
  BulkWriter writer = db_.Bulk();
  for (size_t i = 0; i < kDocuments; ++i) {
    writer.Set(db_.Doc("many/" + std::to_string(10'000 + i)), {});
  }
  ASSERT_TRUE(writer.Flush().ok());
  const auto documents = db_.Collection("many").ListDocuments();
  ASSERT_TRUE(documents.ok()) << documents.status().ToString();
  ASSERT_EQ(documents->size(), kDocuments);
  EXPECT_EQ(documents->back().id(), "10649");
}

TEST_P(TransportContract, ListCollections) {
  Put("rooms/a", {});
  Put("users/u/mails/m", {});
  Put("users/u/friends/f", {});
  EXPECT_EQ(PathsOf(*db_.ListCollections()), (Ids{"rooms", "users"}));
  EXPECT_EQ(PathsOf(*db_.Doc("users/u").ListCollections()),
            (Ids{"users/u/friends", "users/u/mails"}));
  EXPECT_EQ(db_.Doc("rooms/a").ListCollections()->size(), 0u);
}

TEST_P(TransportContract, RecursiveDeleteOfADocument) {
  for (const char* path : {"rooms/a", "rooms/a/messages/m1", "rooms/a/messages/m1/likes/l1",
                           "rooms/b", "rooms/b/messages/m1", "rooms/ab"}) {
    Put(path, {});
  }
  const Status status = db_.RecursiveDelete(db_.Doc("rooms/a"));
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(IdsOf(db_.Collection("rooms")), (Ids{"ab", "b"}));
  EXPECT_EQ(db_.Doc("rooms/a").ListCollections()->size(), 0u);
  EXPECT_EQ(IdsOf(db_.CollectionGroup("messages")), (Ids{"m1"}));
  EXPECT_EQ(IdsOf(db_.CollectionGroup("likes")), Ids{});
}

TEST_P(TransportContract, RecursiveDeleteOfACollection) {
  for (const char* path :
       {"rooms/a", "rooms/a/messages/m1", "rooms/a/messages/m1/likes/l1", "rooms/a/messages/m2",
        "rooms/a/messagesx/x", "rooms/a/message/x", "rooms/b/messages/m1"}) {
    Put(path, {});
  }
  Status status = db_.RecursiveDelete(db_.Collection("rooms/a/messages"));
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(Exists("rooms/a"));
  EXPECT_TRUE(Exists("rooms/b/messages/m1"));
  EXPECT_FALSE(Exists("rooms/a/messages/m1/likes/l1"));
  EXPECT_EQ(PathsOf(*db_.Doc("rooms/a").ListCollections()),
            (Ids{"rooms/a/message", "rooms/a/messagesx"}));

  Put("users/u", {});
  status = db_.RecursiveDelete(db_.Collection("rooms"));
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(PathsOf(*db_.ListCollections()), (Ids{"users"}));
}

TEST_P(TransportContract, BulkWritesAllHappen) {
  constexpr int kDocuments = 300;
  BulkWriter writer = db_.Bulk({.batch_writes_max = 20, .queued_writes_max = 50});
  for (int i = 0; i < kDocuments; ++i) {
    writer.Create(db_.Doc("many/" + std::to_string(i)), {{"i", i}});
  }
  for (int i = 0; i < kDocuments; i += 2) {
    writer.Update(db_.Doc("many/" + std::to_string(i)), {{"even", true}});
  }
  for (int i = 0; i < kDocuments; i += 3) writer.Delete(db_.Doc("many/" + std::to_string(i)));
  const Status status = writer.Flush();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(*db_.Collection("many").Count(), 200);
  EXPECT_EQ(*db_.Collection("many").Where("even", Op::kEqual, true).Count(), 100);
}

TEST_P(TransportContract, BulkWritesOfOneDocumentKeepTheirOrder) {
  BulkWriter writer = db_.Bulk({.batch_writes_max = 7});
  for (int i = 0; i < 100; ++i) {
    for (const char* path : {"rooms/a", "rooms/b"}) writer.Set(db_.Doc(path), {{"i", i}});
  }
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_EQ(Read("rooms/a"), (Map{{"i", 99}}));
  EXPECT_EQ(Read("rooms/b"), (Map{{"i", 99}}));
}

TEST_P(TransportContract, BulkWritesThatFail) {
  std::mutex mutex;
  std::map<std::string, Code> errors;
  {
    BulkWriter writer =
        db_.Bulk({}, [&mutex, &errors](const DocumentReference& document, const Status& error) {
          const std::lock_guard lock(mutex);
          errors[document.path()] = error.code();
        });
    Put("rooms/there", {});
    writer.Create(db_.Doc("rooms/there"), {});
    writer.Update(db_.Doc("rooms/none"), {{"a", 1}});
    writer.Set(db_.Doc("rooms/bad"), {{"a", FieldValue::Delete()}});
    writer.Set(db_.Doc("rooms"), {});
    writer.Set(db_.Doc("rooms/good"), {});
    EXPECT_FALSE(writer.Flush().ok());
    EXPECT_TRUE(writer.Flush().ok()) << "errors are told once";
    writer.Set(db_.Doc("rooms/last"), {});
  }
  EXPECT_EQ(errors, (std::map<std::string, Code>{{"rooms/there", Code::kAlreadyExists},
                                                 {"rooms/none", Code::kNotFound},
                                                 {"rooms/bad", Code::kInvalidArgument},
                                                 {"", Code::kInvalidArgument}}));
  EXPECT_EQ(IdsOf(db_.Collection("rooms")), (Ids{"good", "last", "there"}));
}

}  // namespace
}  // namespace hearth::client
