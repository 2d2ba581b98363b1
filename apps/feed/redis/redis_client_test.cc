#include "apps/feed/redis/redis_client.h"

#include <gtest/gtest.h>

#include <thread>

#include "apps/feed/testing/redis_server.h"
#include "base/testing/fake_clock.h"
#include "http/testing/test_socket.h"

namespace hearth::feed {
namespace {

using std::chrono::milliseconds;

const RedisScript kGetScript{"return redis.call('GET', KEYS[1])"};
const RedisScript kCountScript{"return redis.call('INCR', KEYS[1])"};

RedisCommand Set(const std::string& key, const std::string& value) {
  return {.arguments = {"SET", key, value}, .key = key};
}
RedisCommand Get(const std::string& key) { return {.arguments = {"GET", key}, .key = key}; }

class RedisClientTest : public testing::Test {
 protected:
  // Short for servers that hang on purpose; long otherwise, so that a busy machine causes no
  // failures.
  RedisClient MakeClient(std::vector<RedisAddress> addresses,
                         milliseconds timeout = std::chrono::seconds(20)) {
    return RedisClient(clock_, metrics_, std::move(addresses),
                       {.connect_timeout = timeout, .command_timeout = timeout});
  }
  double degraded() { return metrics_.GetGauge("feed_cache_degraded", "").value(); }
  uint64_t errors() { return metrics_.GetCounter("feed_redis_errors_total", "").value(); }
  // After this the server is tried again, and an error no longer counts.
  void Rest() { clock_.Advance(RedisClient::kDegradedFor); }

  FakeClock clock_{0};
  Metrics metrics_;
};

TEST_F(RedisClientTest, AnswersInOrder) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()});
  std::vector<RedisCommand> commands;
  for (int i = 0; i < 1'000; ++i) {
    commands.push_back(Set("key", std::to_string(i)));
    commands.push_back(Get("key"));
  }
  const std::vector<Result<RedisReply>> replies = client.Pipeline(commands);
  ASSERT_EQ(replies.size(), 2'000u);
  for (size_t i = 0; i < 1'000; ++i) EXPECT_EQ(replies[2 * i + 1]->text, std::to_string(i));
  EXPECT_EQ(errors(), 0u);
  EXPECT_EQ(degraded(), 0);
}

TEST_F(RedisClientTest, AnErrorIsOfItsCommandAlone) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()});
  const auto replies =
      client.Pipeline({Set("key", "1"), {.arguments = {"NONSENSE"}, .key = ""}, Get("key")});
  EXPECT_TRUE(replies[0].ok());
  EXPECT_EQ(replies[1].status().code(), Code::kUnavailable);
  EXPECT_EQ(replies[2]->text, "1");
  EXPECT_EQ(errors(), 1u);
}

TEST_F(RedisClientTest, ManyThreadsShareAFewConnections) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()});
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2 * RedisNode::kConnectionsMax; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j)
        EXPECT_TRUE(client.Run(CallScript(kCountScript, {"n"}, {})).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(client.Run(Get("n"))->text, std::to_string(2 * RedisNode::kConnectionsMax * 20));
}

TEST_F(RedisClientTest, LoadsScriptsWhereTheyAreMissing) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()});
  ASSERT_TRUE(client.Run(Set("key", "1")).ok());
  EXPECT_EQ(client.Run(CallScript(kGetScript, {"key"}, {}))->text, "1");
  server.Command({"SCRIPT", "FLUSH"});
  const auto replies =
      client.Pipeline({CallScript(kGetScript, {"key"}, {}), CallScript(kCountScript, {"key"}, {}),
                       CallScript(kGetScript, {"key"}, {})});
  for (const Result<RedisReply>& reply : replies) EXPECT_TRUE(reply.ok());
  EXPECT_EQ(errors(), 0u);
}

TEST_F(RedisClientTest, AServerThatRefusesIsUnavailableUntilItIsBack) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()});
  ASSERT_TRUE(client.Run(Set("key", "1")).ok());
  server.Kill();
  EXPECT_EQ(client.Run(Get("key")).status().code(), Code::kUnavailable);
  EXPECT_EQ(degraded(), 1);
  server.Restart();
  // It is not tried again for a moment.
  EXPECT_EQ(client.Run(Get("key")).status().code(), Code::kUnavailable);
  Rest();
  const Result<RedisReply> reply = client.Run(Get("key"));
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_TRUE(reply->IsNil());
  EXPECT_EQ(degraded(), 0);
  EXPECT_EQ(errors(), 2u);
}

TEST_F(RedisClientTest, AServerThatWasNeverThereIsFoundWhenItComes) {
  RedisServer server;
  server.Kill();
  RedisClient client = MakeClient({server.address()});
  EXPECT_EQ(client.Run(Get("key")).status().code(), Code::kUnavailable);
  server.Restart();
  Rest();
  EXPECT_TRUE(client.Run(Get("key")).ok());
}

TEST_F(RedisClientTest, ARestartBetweenTwoCommandsIsNoError) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()});
  ASSERT_TRUE(client.Run(CallScript(kCountScript, {"n"}, {})).ok());
  server.Restart();  // Empty, without the script, all connections closed.
  const Result<RedisReply> reply = client.Run(CallScript(kCountScript, {"n"}, {}));
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->integer, 1);
  EXPECT_EQ(errors(), 0u);
}

TEST_F(RedisClientTest, AServerThatHangsIsAskedOnceAndThenLeftAlone) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()}, milliseconds(100));
  RedisClient patient = MakeClient({server.address()});
  ASSERT_TRUE(patient.Run(Set("key", "1")).ok());
  Result<RedisReply> reply = client.Run(Get("key"));
  for (int i = 0; i < 20 && !reply.ok(); ++i) {  // A busy machine.
    Rest();
    reply = client.Run(Get("key"));
  }
  ASSERT_TRUE(reply.ok());
  server.Pause();
  EXPECT_NE(client.Run(Get("key")).status().message().find("no answer in time"), std::string::npos);
  for (int i = 0; i < 100; ++i) {
    EXPECT_NE(client.Run(Get("key")).status().message().find("failed a moment ago"),
              std::string::npos);
  }
  EXPECT_EQ(degraded(), 1);
  server.Resume();
  for (int i = 0; i < 20; ++i) {
    Rest();
    reply = client.Run(Get("key"));
    if (reply.ok()) break;
  }
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->text, "1");  // Not the answer to an earlier command.
}

TEST_F(RedisClientTest, AConnectionThatBreaksInAPipelineIsNotUsedAgain) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()});
  ASSERT_TRUE(client.Run(Set("key", "1")).ok());
  const auto replies =
      client.Pipeline({Set("key", "2"),
                       {.arguments = {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"}},
                       Get("key"),
                       Get("key")});
  EXPECT_EQ(replies.back().status().code(), Code::kUnavailable);
  Rest();
  EXPECT_EQ(client.Run(Get("key"))->text, "2");
}

TEST_F(RedisClientTest, AServerThatIsGoneWhileMuchIsSentEndsTheConnectionAndNotTheProcess) {
  RedisServer server;
  const auto connection = RedisConnection::Open(server.address(), std::chrono::seconds(20));
  ASSERT_TRUE(connection.ok());
  server.Kill();
  // So long that it is written in parts: the first is lost, the next ones raise a signal.
  const RedisArguments command = {"SET", "key", std::string(32 << 20, 'x')};
  EXPECT_EQ((*connection)->Exchange({&command, 1}, std::chrono::seconds(20)).status().code(),
            Code::kUnavailable);
}

TEST_F(RedisClientTest, AServerWithoutMemoryIsUnavailableForWritesOnly) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()});
  ASSERT_TRUE(client.Run(Set("key", "1")).ok());
  server.Command({"CONFIG", "SET", "maxmemory", "1"});
  const Status refused = client.Run(Set("key", "2")).status();
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_NE(refused.message().find("OOM"), std::string::npos);
  EXPECT_EQ(degraded(), 1);
  EXPECT_EQ(client.Run(Get("key"))->text, "1");
  EXPECT_EQ(degraded(), 1);  // Successful reads do not hide it.
  server.Command({"CONFIG", "SET", "maxmemory", "0"});
  Rest();
  EXPECT_TRUE(client.Run(Set("key", "2")).ok());
  EXPECT_EQ(degraded(), 0);
}

TEST_F(RedisClientTest, AReplicaThatTakesNoWritesIsUnavailable) {
  RedisServer server;
  RedisClient client = MakeClient({server.address()});
  server.Command({"REPLICAOF", "127.0.0.1", std::to_string(http::FreePort())});
  EXPECT_EQ(client.Run(Set("key", "1")).status().code(), Code::kUnavailable);
}

class RedisClusterTest : public RedisClientTest {
 protected:
  // One key per node.
  std::vector<std::string> Keys() {
    std::vector<std::string> keys(RedisCluster::kNodes);
    for (int i = 0; i < 100; ++i) {
      const std::string key = "key" + std::to_string(i);
      keys[cluster_.HomeOf(key)] = key;
    }
    return keys;
  }

  RedisCluster cluster_;
};

TEST_F(RedisClusterTest, OneAddressIsEnoughAndAnswersAreInOrder) {
  RedisClient client = MakeClient({cluster_.node(1).address()});
  std::vector<RedisCommand> commands;
  for (int i = 0; i < 300; ++i) {
    commands.push_back(CallScript(kCountScript, {"key" + std::to_string(i % 30)}, {}));
  }
  const auto replies = client.Pipeline(commands);
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(replies[static_cast<size_t>(i)].ok());
    EXPECT_EQ(replies[static_cast<size_t>(i)]->integer, 1 + i / 30);
  }
  EXPECT_EQ(errors(), 0u);
}

TEST_F(RedisClusterTest, ANodeThatIsGoneCostsItsOwnKeysOnly) {
  RedisClient client = MakeClient(cluster_.addresses());
  const std::vector<std::string> keys = Keys();
  for (const std::string& key : keys) ASSERT_TRUE(client.Run(Set(key, "1")).ok());
  cluster_.node(1).Kill();
  const auto replies = client.Pipeline({Get(keys[0]), Get(keys[1]), Get(keys[2])});
  EXPECT_TRUE(replies[0].ok());
  EXPECT_EQ(replies[1].status().code(), Code::kUnavailable);
  EXPECT_TRUE(replies[2].ok());
}

TEST_F(RedisClusterTest, FollowsASlotWhileItMovesAndAfterwards) {
  RedisClient client = MakeClient(cluster_.addresses());
  const std::string key = Keys()[0];
  const std::string slot = std::to_string(RedisSlotOf(key));
  const std::string source = cluster_.node(0).Command({"CLUSTER", "MYID"}).text;
  const std::string target = cluster_.node(1).Command({"CLUSTER", "MYID"}).text;
  ASSERT_TRUE(client.Run(Set(key, "before")).ok());
  cluster_.node(1).Command({"CLUSTER", "SETSLOT", slot, "IMPORTING", source});
  cluster_.node(0).Command({"CLUSTER", "SETSLOT", slot, "MIGRATING", target});
  EXPECT_EQ(client.Run(Get(key))->text, "before");  // It has not moved yet.
  cluster_.node(0).Command(
      {"MIGRATE", "127.0.0.1", std::to_string(cluster_.node(1).address().port), key, "0", "5000"});
  EXPECT_EQ(client.Run(CallScript(kGetScript, {key}, {}))->text, "before");  // ASK.
  for (const size_t node : {1u, 0u, 2u}) {
    cluster_.node(node).Command({"CLUSTER", "SETSLOT", slot, "NODE", target});
  }
  EXPECT_EQ(client.Run(Get(key))->text, "before");  // MOVED.
  ASSERT_TRUE(client.Run(Set(key, "after")).ok());
  EXPECT_EQ(client.Run(CallScript(kGetScript, {key}, {}))->text, "after");
  EXPECT_EQ(errors(), 0u);
}

TEST_F(RedisClusterTest, ASlotThatNobodyHasIsUnavailable) {
  RedisClient client = MakeClient(cluster_.addresses());
  const std::string key = Keys()[0];
  cluster_.node(0).Command({"CLUSTER", "DELSLOTS", std::to_string(RedisSlotOf(key))});
  EXPECT_EQ(client.Run(Get(key)).status().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace hearth::feed
