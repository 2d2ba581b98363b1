#include "model/path_encoding.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "base/testing/test_seed.h"

namespace hearth::model {
namespace {

using namespace std::literals;

DocumentPath Document(std::string_view path) { return *DocumentPath::Parse(path); }
CollectionPath Collection(std::string_view path) { return *CollectionPath::Parse(path); }

std::vector<std::string> Split(const std::string& path) {
  std::vector<std::string> segments(1);
  for (const char c : path) {
    if (c == '/') {
      segments.emplace_back();
    } else {
      segments.back().push_back(c);
    }
  }
  return segments;
}

// The expected sort order: collection segments, then a mark below every segment, then the id. A
// segment is {1, number, ""} or {2, 0, text}; the mark is {0, 0, ""}.
using SortKey = std::vector<std::tuple<int, long, std::string>>;
SortKey NaiveKey(const std::string& path) {
  SortKey key;
  for (const std::string& segment : Split(path)) {
    if (segment.starts_with("__id") && segment.size() > 6) {
      key.emplace_back(1, std::stol(segment.substr(4)), "");
    } else {
      key.emplace_back(2, 0, segment);
    }
  }
  key.emplace(key.end() - 1, 0, 0, "");
  return key;
}

class RandomPaths {
 public:
  explicit RandomPaths(uint64_t seed) : engine_(seed) {}

  std::string Next() {
    std::string path;
    for (size_t pairs = 1 + engine_() % 3; pairs > 0; --pairs) {
      if (!path.empty()) path.push_back('/');
      path += Text() + "/" + (engine_() % 3 == 0 ? Number() : Text());
    }
    return path;
  }

 private:
  // ASCII, because the naive key compares signed characters.
  std::string Text() {
    static const std::string kAlphabet = "\0\x01\x02\x7f"s + "ab_";
    std::string text;
    for (size_t length = 1 + engine_() % 3; length > 0; --length) {
      text.push_back(kAlphabet[engine_() % kAlphabet.size()]);
    }
    return text;
  }

  std::string Number() {
    static const std::vector<long> kNumbers = {
        1, -1, 7, 10, 255, 256, std::numeric_limits<long>::min(), std::numeric_limits<long>::max()};
    return "__id" + std::to_string(kNumbers[engine_() % kNumbers.size()]) + "__";
  }

  std::mt19937_64 engine_;
};

TEST(PathEncodingTest, KeysSortAsPathsDoAndDecode) {
  const uint64_t seed = TestSeed();
  RandomPaths random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const std::string left = random.Next();
    const std::string right = random.Next();
    SCOPED_TRACE(testing::PrintToString(left) + " and " + testing::PrintToString(right));
    const std::string left_key = EncodeDocumentPath(Document(left));
    const std::string right_key = EncodeDocumentPath(Document(right));
    ASSERT_EQ(left_key < right_key, NaiveKey(left) < NaiveKey(right));
    ASSERT_EQ(left_key == right_key, left == right);
    const Result<DocumentPath> decoded = DecodeDocumentPath(left_key);
    ASSERT_TRUE(decoded.ok());
    ASSERT_EQ(decoded->path(), left);
  }
}

TEST(PathEncodingTest, PrefixesHoldExactlyWhatTheyPromise) {
  const uint64_t seed = TestSeed();
  RandomPaths random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const DocumentPath base = Document(random.Next());
    const CollectionPath collection = Collection(base.collection());
    // Half of the others are close relatives.
    const std::string next = random.Next();
    const DocumentPath other = Document(i % 2 == 0 ? next : base.path() + "/" + next);
    const std::string key = EncodeDocumentPath(other);
    SCOPED_TRACE(testing::PrintToString(base.path()) + " and " +
                 testing::PrintToString(other.path()));

    ASSERT_EQ(key.starts_with(EncodeCollectionPrefix(collection)),
              other.collection() == collection.path());
    ASSERT_EQ(key.starts_with(EncodeSubtreePrefix(base.path())),
              other.path().starts_with(base.path() + "/"));
    ASSERT_EQ(key.starts_with(EncodeCollectionSubtreePrefix(collection)),
              other.path().starts_with(collection.path() + "/"));
  }
  EXPECT_EQ(EncodeSubtreePrefix(""), "");
}

// The examples in docs/formats/keys.md.
TEST(PathEncodingTest, WritesTheDocumentedBytes) {
  EXPECT_EQ(EncodeDocumentPath(Document("rooms/r1")), "rooms\0\1\0\0r1\0\1"s);
  EXPECT_EQ(EncodeDocumentPath(Document("rooms/r1/messages/m7")),
            "rooms\0\1r1\0\1messages\0\1\0\0m7\0\1"s);
  EXPECT_EQ(EncodeDocumentPath(Document("rooms/__id7__")), "rooms\0\1\0\0\0\2\x80\0\0\0\0\0\0\7"s);
  EXPECT_EQ(EncodeDocumentPath(Document("rooms/__id-1__")),
            "rooms\0\1\0\0\0\2\x7f\xff\xff\xff\xff\xff\xff\xff"s);
  EXPECT_EQ(EncodeDocumentPath(Document("rooms/a\0b"s)),
            "rooms\0\1\0\0a\0\xff"
            "b\0\1"s);
  EXPECT_EQ(EncodeCollectionPrefix(Collection("rooms")), "rooms\0\1\0\0"s);
  EXPECT_EQ(EncodeSubtreePrefix("rooms/r1"), "rooms\0\1r1\0\1"s);
  EXPECT_EQ(EncodeCollectionSubtreePrefix(Collection("rooms")), "rooms\0\1"s);
}

TEST(PathEncodingTest, TakesSegmentsOneByOne) {
  std::string key;
  AppendSegment("rooms", &key);
  AppendSegment("__id-7__", &key);
  AppendSegment("a\0b"s, &key);
  AppendSegment("__id0__", &key);  // Not a numeric id, so it stays text.
  std::string_view rest = key;
  EXPECT_EQ(*TakeSegment(&rest), "rooms");
  EXPECT_EQ(*TakeSegment(&rest), "__id-7__");
  EXPECT_EQ(*TakeSegment(&rest), "a\0b"s);
  EXPECT_EQ(*TakeSegment(&rest), "__id0__");
  EXPECT_TRUE(rest.empty());
}

TEST(PathEncodingTest, BrokenKeysAreDataLoss) {
  const Status lost(Code::kDataLoss, "a key holds no valid path");
  for (const std::string& key :
       {""s, "a"s, "a\0"s, "a\0\3"s, "\0"s, "\0\2\x80\0\0"s, "c\0\1"s, "c\0\1\0\0"s, "c\0\1\0\0d"s,
        "c\0\1\0\0d\0\1x"s, "\0\0d\0\1"s, "c\0\1e\0\1\0\0d\0\1"s, "c\0\1\0\0\0\1"s,
        "c\0\1\0\0a/b\0\1"s, "\0\0c/d\0\1"s, "c\0\1\0\0__id7__\0\1"s,
        "c\0\1\0\0\0\2\x80\0\0\0\0\0\0\0"s, "c\0\1\0\0\xff\0\1"s}) {
    EXPECT_EQ(DecodeDocumentPath(key).status(), lost) << testing::PrintToString(key);
  }
  std::string_view text = "a\0\3"sv;
  EXPECT_EQ(TakeSegment(&text).status(), lost);
  std::string_view number = "\0\2\x80"sv;
  EXPECT_EQ(TakeSegment(&number).status(), lost);
}

TEST(PathEncodingTest, RandomBytesNeverDecodeToSomethingElse) {
  const uint64_t seed = TestSeed();
  std::mt19937_64 engine(seed);
  const std::string alphabet = "\0\1\2\xff"s + "ac/";
  for (int i = 0; i < 50'000; ++i) {
    std::string key;
    for (size_t length = engine() % 10; length > 0; --length) {
      key.push_back(alphabet[engine() % alphabet.size()]);
    }
    const Result<DocumentPath> path = DecodeDocumentPath(key);
    if (path.ok()) {
      ASSERT_EQ(EncodeDocumentPath(*path), key) << testing::PrintToString(key);
    }
  }
}

}  // namespace
}  // namespace hearth::model
