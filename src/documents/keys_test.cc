#include "documents/keys.h"

#include <gtest/gtest.h>

#include "model/testing/documents.h"
#include "storage/store.h"

namespace hearth::documents {
namespace {

using namespace std::string_literals;
using model::Timestamp;

constexpr model::DatabaseNumber kSeventhDatabase{7};

TEST(KeysTest, NumbersAreBigEndian) {
  EXPECT_EQ(model::EncodeUint32(0x01020304), "\x01\x02\x03\x04");
  EXPECT_EQ(model::EncodeUint64(0x0102030405060708), "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(*model::DecodeUint32("\xff\xfe\xfd\xfc"), 0xfffefdfcu);
  EXPECT_EQ(*model::DecodeUint64("\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"), 0xfffefdfcfbfaf9f8u);
  EXPECT_EQ(*model::DecodeUint32(model::EncodeUint32(UINT32_MAX)), UINT32_MAX);
  EXPECT_EQ(*model::DecodeUint64(model::EncodeUint64(UINT64_MAX)), UINT64_MAX);
  EXPECT_EQ(*model::DecodeUint64(model::EncodeUint64(0)), 0u);
}

TEST(KeysTest, NumbersOfAnotherLengthAreDamage) {
  for (const std::string& bytes : {""s, "abc"s, "abcde"s}) {
    EXPECT_EQ(model::DecodeUint32(bytes).status().code(), Code::kDataLoss);
    EXPECT_EQ(model::DecodeUint64(bytes).status().code(), Code::kDataLoss);
  }
  EXPECT_EQ(model::DecodeUint32("abc").status().message(),
            "a stored number has 3 bytes instead of 4");
}

TEST(KeysTest, DocumentKeys) {
  EXPECT_EQ(model::DocumentKey(kSeventhDatabase, Path("rooms/r1")),
            "\x00\x00\x00\x07rooms\x00\x01\x00\x00r1\x00\x01"s);
  EXPECT_EQ(model::DatabaseKeyPrefix(kSeventhDatabase), "\x00\x00\x00\x07"s);
  for (const char* path : {"rooms/r1", "rooms/__id7__", "a/b/c/d", "é/\U0001f600"}) {
    EXPECT_EQ(model::DocumentPathOfKey(model::DocumentKey(kSeventhDatabase, Path(path)))->path(),
              path);
  }
}

TEST(KeysTest, KeysThatAreNoDocumentsAreDamage) {
  const std::string key = model::DocumentKey(kSeventhDatabase, Path("rooms/r1"));
  for (size_t length = 0; length < key.size(); ++length) {
    EXPECT_EQ(model::DocumentPathOfKey(key.substr(0, length)).status().code(), Code::kDataLoss)
        << length;
  }
  EXPECT_EQ(model::DocumentPathOfKey(key + "x").status().code(), Code::kDataLoss);
}

TEST(KeysTest, ACollectionsPrefixHoldsItsDocumentsOnly) {
  const std::string prefix =
      model::CollectionKeyPrefix(kSeventhDatabase, *model::CollectionPath::Parse("rooms"));
  const auto starts = [&prefix](model::DatabaseNumber database, const char* path) {
    return model::DocumentKey(database, Path(path)).starts_with(prefix);
  };
  EXPECT_TRUE(starts(kSeventhDatabase, "rooms/r1"));
  EXPECT_TRUE(starts(kSeventhDatabase, "rooms/__id1__"));
  EXPECT_FALSE(starts(kSeventhDatabase, "rooms/r1/messages/m1"));
  EXPECT_FALSE(starts(kSeventhDatabase, "rooms2/r1"));
  EXPECT_FALSE(starts(model::DatabaseNumber{8}, "rooms/r1"));
}

TEST(KeysTest, HistoryKeysSortByDocumentThenTime) {
  const std::string first = model::DocumentKey(kSeventhDatabase, Path("c/a"));
  const std::string second = model::DocumentKey(kSeventhDatabase, Path("c/a!"));
  const auto key = [](const std::string& document, int64_t micros) {
    return HistoryKey(document, Timestamp::FromMicros(micros));
  };
  EXPECT_LT(key(first, 1), key(first, 255));
  EXPECT_LT(key(first, 255), key(first, 256));
  EXPECT_LT(key(first, INT64_MAX), key(second, 1));
  EXPECT_EQ(DocumentKeyOfHistoryKey(key(first, 77)), first);
  // They lie within the range of their document, whose key is not a prefix of any other document's
  // key.
  const storage::KeyRange range = storage::PrefixRange(first);
  EXPECT_GE(key(first, 0), range.first);
  EXPECT_LT(key(first, INT64_MAX), range.last);
  EXPECT_GE(key(second, 0), range.last);
}

TEST(KeysTest, LogKeys) {
  EXPECT_EQ(LogKey(kSeventhDatabase, Timestamp::FromMicros(258)),
            "\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x01\x02"s);
}

TEST(KeysDeathTest, AHistoryKeyHoldsMoreThanATime) {
  EXPECT_DEATH((void)DocumentKeyOfHistoryKey("12345678"), "CHECK|history_key");
}

}  // namespace
}  // namespace hearth::documents
