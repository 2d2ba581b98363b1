#include "apps/feed/redis/redis_slots.h"

#include <gtest/gtest.h>

#include "apps/feed/redis/redis_address.h"

namespace hearth::feed {
namespace {

const RedisAddress kAsked{"10.0.0.1", 7000};

RedisReply Integer(int64_t integer) {
  RedisReply reply;
  reply.type = RedisReply::Type::kInteger;
  reply.integer = integer;
  return reply;
}

RedisReply Text(const std::string& text) {
  RedisReply reply;
  reply.type = RedisReply::Type::kString;
  reply.text = text;
  return reply;
}

RedisReply Array(std::vector<RedisReply> elements) {
  RedisReply reply;
  reply.type = RedisReply::Type::kArray;
  reply.elements = std::move(elements);
  return reply;
}

TEST(RedisSlotsTest, AreThoseOfTheClusterSpecification) {
  EXPECT_EQ(RedisSlotOf("123456789"), 0x31c3u);  // The example of the specification.
  EXPECT_EQ(RedisSlotOf("foo"), 12'182u);
  EXPECT_EQ(RedisSlotOf(""), 0u);
}

TEST(RedisSlotsTest, ATagInBracesDecides) {
  EXPECT_EQ(RedisSlotOf("{feed:user:404}:meta"), RedisSlotOf("feed:user:404"));
  EXPECT_EQ(RedisSlotOf("a{b}{c}"), RedisSlotOf("b"));
  EXPECT_EQ(RedisSlotOf("a{{b}}"), RedisSlotOf("{b"));
  EXPECT_NE(RedisSlotOf("foo{}{bar}"), RedisSlotOf("bar"));  // Empty braces are not a tag.
}

TEST(RedisSlotsTest, ReadsTheMapAndFillsInHostsThatAreLeftOut) {
  const RedisReply reply = Array({
      Array({Integer(0), Integer(9), Array({Text("10.0.0.2"), Integer(7001), Text("id")})}),
      Array({Integer(10), Integer(19), Array({Text(""), Integer(7000)}), Array({})}),
      Array({Integer(30), Integer(39), Array({Text("10.0.0.2"), Integer(7001)})}),
  });
  const Result<RedisSlotMap> map = ParseClusterSlots(reply, kAsked);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->masters, (std::vector<RedisAddress>{{"10.0.0.2", 7001}, kAsked}));
  EXPECT_EQ(map->master_of[9], 0);
  EXPECT_EQ(map->master_of[10], 1);
  EXPECT_EQ(map->master_of[20], -1);
  EXPECT_EQ(map->master_of[39], 0);
}

TEST(RedisSlotsTest, RefusesAMapThatMakesNoSense) {
  const RedisReply master = Array({Text("h"), Integer(1)});
  for (const RedisReply& row :
       {Array({}), Array({Integer(0), Integer(1)}), Array({Integer(5), Integer(4), master}),
        Array({Integer(-1), Integer(4), master}), Array({Integer(0), Integer(16'384), master}),
        Array({Integer(0), Integer(1), Array({Text("h"), Integer(0)})}),
        Array({Integer(0), Integer(1), Array({Text("h"), Integer(70'000)})})}) {
    EXPECT_EQ(ParseClusterSlots(Array({row}), kAsked).status().code(), Code::kUnavailable);
  }
  EXPECT_EQ(ParseClusterSlots(Text("?"), kAsked).status().code(), Code::kUnavailable);
}

TEST(RedisSlotsTest, ReadsWhereACommandShouldGo) {
  const Result<RedisRedirect> moved = ParseRedirect("MOVED 3999 127.0.0.1:6381", kAsked);
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved->slot, 3'999u);
  EXPECT_EQ(moved->address, (RedisAddress{"127.0.0.1", 6381}));
  EXPECT_EQ(ParseRedirect("ASK 1 ::1:6381", kAsked)->address, (RedisAddress{"::1", 6381}));
  EXPECT_EQ(ParseRedirect("MOVED 1 :6381", kAsked)->address, (RedisAddress{"10.0.0.1", 6381}));
  for (const char* text : {"", "MOVED", "MOVED 1", "MOVED x 127.0.0.1:1", "MOVED 16384 h:1",
                           "MOVED 1 h", "MOVED 1 h:0", "MOVED 1 h:x"}) {
    EXPECT_EQ(ParseRedirect(text, kAsked).status().code(), Code::kUnavailable) << text;
  }
}

TEST(RedisAddressTest, ReadsOneOrMany) {
  EXPECT_EQ(*ParseRedisAddresses("localhost:6379"),
            (std::vector<RedisAddress>{{"localhost", 6379}}));
  EXPECT_EQ(*ParseRedisAddresses("a:1,b:2,::1:65535"),
            (std::vector<RedisAddress>{{"a", 1}, {"b", 2}, {"::1", 65535}}));
}

TEST(RedisAddressTest, SaysWhatIsWrongWithWhich) {
  for (const char* text : {"", "a", "a:", ":1", "a:0", "a:65536", "a:-1", "a:1x", "a:1,", ",a:1",
                           "a:1,,b:2", "a b:1", "redis://a:1", "me@a:1"}) {
    EXPECT_EQ(ParseRedisAddresses(text).status().code(), Code::kInvalidArgument) << text;
  }
  EXPECT_EQ(ParseRedisAddresses("a:1,b:x").status().message(),
            "\"b:x\": the port must be a number from 1 to 65535");
}

}  // namespace
}  // namespace hearth::feed
