#include "client/embedded/embedded.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/embedded/embedded_transport.h"
#include "engine/testing/test_engine.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::client {
namespace {

TEST(EmbeddedTest, KeepsWhatWasWritten) {
  storage::TemporaryFolder folder;
  const EmbeddedOptions options{.data_path = folder / "data", .project = "p", .cache_mib = 8};
  {
    const Result<Firestore> db = OpenEmbedded(options);
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    ASSERT_TRUE(db->Doc("rooms/a").Set({{"size", 1}}).ok());
    EXPECT_EQ(db->Doc("rooms/a").name(), "projects/p/databases/(default)/documents/rooms/a");
  }
  const Result<Firestore> db = OpenEmbedded(options);
  ASSERT_TRUE(db.ok()) << db.status().ToString();
  EXPECT_EQ(db->Doc("rooms/a").Get()->Data(), (Map{{"size", 1}}));
}

TEST(EmbeddedTest, LivesAsLongAsAnythingMadeFromIt) {
  storage::TemporaryFolder folder;
  const EmbeddedOptions options{.data_path = folder / "data"};
  std::optional<DocumentReference> room;
  {
    const Result<Firestore> db = OpenEmbedded(options);
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    room = db->Doc("rooms/a");
  }
  EXPECT_TRUE(room->Set({}).ok());
  EXPECT_EQ(OpenEmbedded(options).status().code(), Code::kFailedPrecondition) << "it is in use";
  room.reset();
  EXPECT_TRUE(OpenEmbedded(options).ok());
}

TEST(EmbeddedTest, NamesAndFoldersThatCannotBe) {
  storage::TemporaryFolder folder;
  EXPECT_EQ(OpenEmbedded({.data_path = folder / "data", .project = "a/b"}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(OpenEmbedded({.data_path = folder / "no/such"}).status().code(), Code::kNotFound);
}

TEST(EmbeddedTest, DatabasesAreApart) {
  engine::TestEngine engine;
  const auto open = [&engine](const std::string& name) {
    return *OverEngine(engine.engine(), *model::DatabaseName::Parse(name));
  };
  const Firestore first = open("projects/p/databases/(default)");
  const Firestore second = open("projects/p/databases/other");
  ASSERT_TRUE(first.Doc("rooms/a").Set({}).ok());
  EXPECT_FALSE(second.Doc("rooms/a").Get()->exists());
}

// What a listener's callback needs to be the last user of the database.
struct LastUser {
  Mutex mutex;
  CondVar changed;
  std::unique_ptr<Listener> listener GUARDED_BY(mutex);
  bool is_over GUARDED_BY(mutex) = false;
};

TEST(EmbeddedTest, ACallbackMayBeTheLastUser) {
  storage::TemporaryFolder folder;
  auto last = std::make_shared<LastUser>();
  {
    const Result<Firestore> db = OpenEmbedded({.data_path = folder / "data"});
    ASSERT_TRUE(db.ok()) << db.status().ToString();
    Result<Listener> listener =
        db->Collection("rooms").Listen([last](const Result<QuerySnapshot>&) {
          MutexLock lock(last->mutex);
          while (!last->listener) last->changed.Wait(last->mutex);
          last->listener.reset();
          last->is_over = true;
          last->changed.NotifyAll();
        });
    ASSERT_TRUE(listener.ok());
    MutexLock lock(last->mutex);
    last->listener = std::make_unique<Listener>(*std::move(listener));
  }
  {
    MutexLock lock(last->mutex);
    last->changed.NotifyAll();
    while (!last->is_over) last->changed.Wait(last->mutex);
  }
  // Another thread closes the folder soon.
  while (!OpenEmbedded({.data_path = folder / "data"}).ok()) std::this_thread::yield();
}

TEST(EmbeddedTest, AListenerHearsTheEndOfItsTarget) {
  engine::TestEngine engine;
  const Firestore db = *OverEngine(engine.engine(), engine.database().name);
  ASSERT_TRUE(db.Doc("rooms/a").Set({}).ok());
  struct {
    Mutex mutex;
    CondVar changed;
    std::vector<Code> heard;
  } told;
  engine.store().FailScan(1, Status(Code::kUnavailable, "the disk is gone"));
  Result<Listener> listener =
      db.Collection("rooms").Listen([&told](const Result<QuerySnapshot>& snapshot) {
        MutexLock lock(told.mutex);
        told.heard.push_back(snapshot.status().code());
        told.changed.NotifyAll();
      });
  ASSERT_TRUE(listener.ok());
  {
    MutexLock lock(told.mutex);
    while (told.heard.empty()) told.changed.Wait(told.mutex);
  }
  listener->Stop();
  EXPECT_EQ(told.heard, std::vector<Code>{Code::kUnavailable});
}

TEST(EmbeddedTest, ListenersAreLimited) {
  engine::TestEngine engine;
  const Firestore db = *OverEngine(engine.engine(), engine.database().name);
  const auto listen = [&db] {
    return db.Doc("rooms/a").Listen([](const Result<DocumentSnapshot>&) {});
  };
  std::vector<Listener> listeners;
  for (size_t i = 0; i < EmbeddedTransport::kListenersMax; ++i) {
    Result<Listener> listener = listen();
    ASSERT_TRUE(listener.ok()) << i;
    listeners.push_back(*std::move(listener));
  }
  EXPECT_EQ(listen().status().code(), Code::kResourceExhausted);
}

TEST(EmbeddedTest, BatchWritesBeyondWhatIsUnderWayAtATime) {
  engine::TestEngine engine;
  const auto transport = EmbeddedTransport::Make(engine.engine(), engine.database().name, nullptr);
  constexpr size_t kWrites = EmbeddedTransport::kCommitsUnderWayMax * 2 + 1;
  std::vector<request::Write> writes;
  for (size_t i = 0; i < kWrites; ++i) {
    writes.push_back(*SetWrite(*model::DocumentPath::Parse("rooms/" + std::to_string(i)), {}, {}));
  }
  const auto results = transport->BatchWrite(writes);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->size(), kWrites);
  for (const auto& result : *results) EXPECT_TRUE(result.ok());
  writes.push_back(writes.front());
  EXPECT_EQ(transport->BatchWrite(writes).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(transport->BatchWrite({})->size(), 0u);
}

}  // namespace
}  // namespace hearth::client
