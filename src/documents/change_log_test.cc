#include "documents/change_log.h"

#include <gtest/gtest.h>

#include "documents/keys.h"
#include "model/testing/documents.h"

namespace hearth::documents {
namespace {

using namespace std::string_literals;

TEST(ChangeLogTest, KeepsTheKeysWithoutTheDatabase) {
  const std::string first = model::DocumentKey(model::DatabaseNumber{7}, Path("a/b"));
  const std::string second =
      model::DocumentKey(model::DatabaseNumber{7}, Path("rooms/r1/messages/m1"));
  const std::string entry = EncodeLogEntry({first, second});
  const Result<std::vector<std::string>> keys = DecodeLogEntry(entry);
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(*keys, (std::vector<std::string>{first.substr(4), second.substr(4)}));
  EXPECT_EQ(
      model::DocumentPathOfKey(model::DatabaseKeyPrefix(model::DatabaseNumber{7}) + (*keys)[1])
          ->path(),
      "rooms/r1/messages/m1");
}

TEST(ChangeLogTest, MayBeEmpty) {
  EXPECT_EQ(EncodeLogEntry({}), "");
  EXPECT_TRUE(DecodeLogEntry("")->empty());
}

TEST(ChangeLogTest, WhatEndsTooEarlyIsDamage) {
  const std::string entry = EncodeLogEntry({"1234abc", "1234de"});
  EXPECT_EQ(entry,
            "\x00\x00\x00\x03"
            "abc\x00\x00\x00\x02"
            "de"s);
  for (size_t length = 1; length < entry.size(); ++length) {
    if (length == 7) continue;  // The complete first key.
    EXPECT_EQ(DecodeLogEntry(entry.substr(0, length)).status().code(), Code::kDataLoss) << length;
  }
  EXPECT_EQ(DecodeLogEntry("\xff\xff\xff\xff").status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace hearth::documents
