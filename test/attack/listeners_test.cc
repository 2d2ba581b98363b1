// However much a client lets its listeners hold: the server stays within its memory, and the
// others' listeners hear of commits.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "attack/attacker.h"
#include "http/gzip.h"

namespace hearth::attack {
namespace {

using http::TestHttp2Client;
using process::Serve;
using process::TemporaryFolder;
using support::FirestoreClient;
using support::ServerProcess;

constexpr size_t kMemoryMaxMib = 256;
// The budget, and what is not counted: the program itself, allocator overhead, RocksDB's tables.
constexpr size_t kPeakMibMax = kMemoryMaxMib + 256;

constexpr auto kRemove = proto::TargetChange::REMOVE;
constexpr auto kCurrent = proto::TargetChange::CURRENT;

proto::ListenRequest ListenTo(const std::string& collection, int32_t target_id) {
  proto::ListenRequest listen;
  listen.set_database(support::kDatabase);
  proto::Target& target = *listen.mutable_add_target();
  target.set_target_id(target_id);
  target.mutable_query()->set_parent(std::string(support::kDatabase) + "/documents");
  target.mutable_query()->mutable_structured_query()->add_from()->set_collection_id(collection);
  return listen;
}
proto::StructuredQuery& QueryOf(proto::ListenRequest& listen) {
  return *listen.mutable_add_target()->mutable_query()->mutable_structured_query();
}

// Whether the stream's target got that change.
bool Has(TestHttp2Client& client, int32_t stream, int32_t target_id,
         proto::TargetChange::TargetChangeType type, int code = 0) {
  for (const std::string& message : client.answer(stream).messages()) {
    proto::ListenResponse response;
    if (!response.ParseFromString(message) || !response.has_target_change()) continue;
    const proto::TargetChange& change = response.target_change();
    if (change.target_change_type() != type || change.cause().code() != code) continue;
    for (const int32_t id : change.target_ids()) {
      if (id == target_id) return true;
    }
  }
  return false;
}
bool IsRefused(TestHttp2Client& client, int32_t stream, int32_t target_id) {
  return Has(client, stream, target_id, kRemove, 8);
}

class ListenersAttackTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = Serve(folder_ / "data",
                    {"--memory-max-mib", std::to_string(kMemoryMaxMib), "--cache-mib", "32"});
    other_ = std::make_unique<FirestoreClient>(server_->port());
    listening_ = std::make_unique<TestHttp2Client>(server_->port());
    other_stream_ = listening_->OpenGrpc(support::MethodPath("Listen"));
    listening_->SendBody(other_stream_, Framed(ListenTo("other", 1)));
    ASSERT_TRUE(listening_->Until([&] { return Has(*listening_, other_stream_, 1, kCurrent); }));

    attacker_ = std::make_unique<TestHttp2Client>(server_->port());
    attack_ = attacker_->OpenGrpc(support::MethodPath("Listen"));
  }

  // Waits until each of the attacker's targets has been answered.
  void ExpectThatMostAreRefused(int32_t stream, int32_t targets) {
    ASSERT_TRUE(attacker_->Until([&] {
      return Has(*attacker_, stream, targets, kCurrent) || IsRefused(*attacker_, stream, targets) ||
             attacker_->answer(stream).closed;
    }));
    EXPECT_TRUE(Has(*attacker_, stream, 1, kCurrent));
    int32_t refused = 0;
    for (int32_t id = 1; id <= targets; ++id) {
      if (IsRefused(*attacker_, stream, id)) ++refused;
    }
    // Without memory to decompress a request, the whole stream ends.
    if (attacker_->answer(stream).closed) refused = targets;
    EXPECT_GT(refused, targets / 2);
  }

  void ExpectOthersHearOfCommits() {
    for (int i = 0; i < 20; ++i) {
      const std::string text = "text " + std::to_string(++commits_) + ".";
      ASSERT_EQ(process::Put(*other_, "other/d", text), Status());
      ASSERT_TRUE(listening_->Until(
          [&] { return listening_->answer(other_stream_).body.find(text) != std::string::npos; }));
    }
  }

  void ExpectMemoryIsBounded() {
    const size_t peak_mib = server_->memory().peak_kib / 1024;
    RecordProperty("peak_mib", static_cast<int>(peak_mib));
    EXPECT_GT(peak_mib, 0u);
    EXPECT_LE(peak_mib, kPeakMibMax);
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<FirestoreClient> other_;
  std::unique_ptr<TestHttp2Client> listening_;
  int32_t other_stream_ = 0;
  int commits_ = 0;
  std::unique_ptr<TestHttp2Client> attacker_;
  int32_t attack_ = 0;
};

TEST_F(ListenersAttackTest, MasksThatMultiplyADocument) {
  constexpr int32_t kTargets = 1'000;
  for (int32_t id = 1; id <= kTargets; ++id) {
    proto::ListenRequest listen = ListenTo("large", id);
    proto::StructuredQuery::Projection& select = *QueryOf(listen).mutable_select();
    select.add_fields()->set_field_path("text");
    select.add_fields()->set_field_path("f" + std::to_string(id));
    attacker_->SendBody(attack_, Framed(listen));
  }
  ASSERT_TRUE(attacker_->Until([&] { return Has(*attacker_, attack_, kTargets, kCurrent); }));
  Fill(*other_, "large", 3, 1'000'000);
  // The attacker reads the first of these documents, and then nothing more.
  ASSERT_TRUE(attacker_->Until([&] { return attacker_->answer(attack_).body.size() > 1'000'000; }));
  ExpectOthersHearOfCommits();
  ExpectMemoryIsBounded();
}

TEST_F(ListenersAttackTest, CursorsOfAMegabyte) {
  constexpr int32_t kTargets = 400;
  const int32_t stream =
      attacker_->OpenGrpc(support::MethodPath("Listen"), {{"grpc-encoding", "gzip"}});
  for (int32_t id = 1; id <= kTargets; ++id) {
    proto::ListenRequest listen = ListenTo("large", id);
    proto::StructuredQuery& query = QueryOf(listen);
    query.add_order_by()->mutable_field()->set_field_path("text");
    query.mutable_start_at()->add_values()->set_string_value(std::string(1'000'000, 'x'));
    attacker_->SendBody(
        stream, http::TestFrame(http::Gzip(listen.SerializeAsString()), /*compressed=*/true));
    // One such listener is no attack.
    ASSERT_TRUE(id > 1 || attacker_->Until([&] { return Has(*attacker_, stream, 1, kCurrent); }));
  }
  ExpectThatMostAreRefused(stream, kTargets);
  ExpectOthersHearOfCommits();
  ExpectMemoryIsBounded();
}

TEST_F(ListenersAttackTest, WindowsBehindLongOffsets) {
  constexpr int32_t kDocuments = 4'000;
  constexpr int32_t kTargets = 100;
  const std::string many(500, 'm');  // Windows hold paths: long ones fill the memory sooner.
  Fill(*other_, many, kDocuments, 10);
  for (int32_t id = 1; id <= kTargets; ++id) {
    proto::ListenRequest listen = ListenTo(many, id);
    QueryOf(listen).set_offset(kDocuments - 1);
    QueryOf(listen).mutable_limit()->set_value(1);
    attacker_->SendBody(attack_, Framed(listen));
  }
  ExpectThatMostAreRefused(attack_, kTargets);
  ExpectOthersHearOfCommits();
  ExpectMemoryIsBounded();
}

// Many clients with a few small listeners each, all of them idle.
class ManyListenersAttackTest : public testing::Test {
 protected:
  static constexpr size_t kSmallMemoryMib = 136;
  static constexpr size_t kConnections = 220;
  static constexpr int32_t kTargets = 16;
  // Some are as large as a small claim may be; the others fill the gaps that those leave.
  static constexpr int32_t kLargerTargets = 14;
  static constexpr size_t kCursorBytes = 9'000;

  struct Attacker {
    std::unique_ptr<TestHttp2Client> client;
    int32_t stream = 0;
  };

  void SetUp() override {
    server_ = Serve(folder_ / "data",
                    {"--memory-max-mib", std::to_string(kSmallMemoryMib), "--cache-mib", "8"});
    other_ = std::make_unique<FirestoreClient>(server_->port());
    ASSERT_EQ(process::Put(*other_, "other/d", "text"), Status());
  }

  void Connect() {
    for (size_t i = 0; i < kConnections; ++i) {
      auto client = std::make_unique<TestHttp2Client>(server_->port());
      const int32_t stream = client->OpenGrpc(support::MethodPath("Listen"));
      attackers_.push_back({std::move(client), stream});
    }
  }

  // Each attacker asks for targets with these ids. Returns how many are granted.
  size_t Listen(int32_t first, int32_t last, size_t cursor_bytes) {
    for (const auto& [client, stream] : attackers_) {
      for (int32_t id = first; id <= last; ++id) {
        proto::ListenRequest listen = ListenTo("many", id);
        proto::StructuredQuery& query = QueryOf(listen);
        query.add_order_by()->mutable_field()->set_field_path("text");
        query.mutable_start_at()->add_values()->set_string_value(std::string(cursor_bytes, 'x'));
        client->SendBody(stream, Framed(listen));
      }
      client->Flush();
    }
    size_t granted = 0;
    for (const auto& attacker : attackers_) {
      TestHttp2Client& client = *attacker.client;
      const int32_t stream = attacker.stream;
      EXPECT_TRUE(client.Until([&] {
        return Has(client, stream, last, kCurrent) || IsRefused(client, stream, last) ||
               client.answer(stream).closed;
      }));
      for (int32_t id = first; id <= last; ++id) {
        if (Has(client, stream, id, kCurrent)) ++granted;
      }
    }
    return granted;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<FirestoreClient> other_;
  std::vector<Attacker> attackers_;
};

TEST_F(ManyListenersAttackTest, OthersCommitReadAndConnect) {
  Connect();
  // One such client is no attack.
  EXPECT_GT(Listen(1, kLargerTargets, kCursorBytes), kConnections);
  Listen(kLargerTargets + 1, kTargets, 1);
  constexpr size_t kLargeBytes = 300'000;
  for (int round = 0; round < 10; ++round) {
    const std::string path = "other/" + std::to_string(round);
    ASSERT_EQ(process::Put(*other_, path, "text"), Status());
    ASSERT_TRUE(process::Get(*other_, path).ok());
    FirestoreClient newcomer(server_->port());
    ASSERT_EQ(process::Put(newcomer, path, std::string(kLargeBytes, 'l')), Status());
    ASSERT_TRUE(process::Get(newcomer, path).ok());
    const int32_t stream = newcomer.http().OpenGrpc(support::MethodPath("Listen"));
    newcomer.http().SendBody(stream, Framed(ListenTo("other", 1)));
    ASSERT_TRUE(newcomer.http().Until([&] { return Has(newcomer.http(), stream, 1, kCurrent); }));
  }
}

}  // namespace
}  // namespace hearth::attack
