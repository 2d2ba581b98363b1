#include "wire/parse_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "google/firestore/v1/firestore.pb.h"
#include "model/wire_format.h"
#include "wire/requests.h"
#include "wire/testing/messages.h"

namespace hearth::wire {
namespace {

constexpr size_t kMebibyte = 1024 * 1024;

// What libprotobuf says it has allocated for the message. It does not count the allocator's heads
// and empty places in arrays.
template <typename Message>
size_t UsedBytes(const std::string& bytes) {
  Message message;
  EXPECT_TRUE(ParseMessage(bytes, &message).ok());
  return message.SpaceUsedLong() - sizeof(message);
}

// Whether the estimate covers what is used, without being much too large. Our own objects and the
// copies of the bytes come on top.
template <typename Message>
void ExpectGoodEstimate(const std::string& bytes, const char* what) {
  const size_t used = UsedBytes<Message>(bytes);
  const size_t estimate = ParsedBytes(*Message::descriptor(), bytes);
  EXPECT_GE(estimate, used + 2 * bytes.size()) << what;
  EXPECT_LE(estimate, 3 * used + 8 * bytes.size()) << what;
}

std::string Repeat(const std::string& part, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

TEST(ParseMemoryTest, CoversWhatLibprotobufAllocates) {
  constexpr size_t kCount = 20'000;
  proto::Document document;
  proto::ArrayValue& nulls = *(*document.mutable_fields())["a"].mutable_array_value();
  for (size_t i = 0; i < kCount; ++i) nulls.add_values()->set_null_value({});
  ExpectGoodEstimate<proto::Document>(document.SerializeAsString(), "nulls");

  proto::Document map;
  for (size_t i = 0; i < kCount; ++i) {
    (*map.mutable_fields())["f" + std::to_string(i)].set_integer_value(1);
  }
  ExpectGoodEstimate<proto::Document>(map.SerializeAsString(), "a map");

  proto::BatchGetDocumentsRequest names;
  for (size_t i = 0; i < kCount; ++i) names.add_documents("projects/p/databases/d/documents/c/d");
  ExpectGoodEstimate<proto::BatchGetDocumentsRequest>(names.SerializeAsString(), "names");

  ExpectGoodEstimate<proto::Value>(Repeat(std::string("\xf8\x0f\x01", 3), kCount),
                                   "unknown numbers");
  ExpectGoodEstimate<proto::Value>(Repeat(std::string("\xfa\x0f\x00", 3), kCount), "unknown texts");
  ExpectGoodEstimate<proto::Value>(Repeat("\xfb\x0f\xfc\x0f", kCount), "unknown groups");
}

TEST(ParseMemoryTest, EmptyWritesAreExpensive) {
  const std::string writes = Repeat(std::string("\x12\x00", 2), 100'000);
  EXPECT_EQ(ParsedBytes(*proto::CommitRequest::descriptor(), writes) / writes.size() > 45, true);
  EXPECT_GE(ParsedBytes(*proto::CommitRequest::descriptor(), writes),
            UsedBytes<proto::CommitRequest>(writes));
}

TEST(ParseMemoryTest, TextCostsLittleMoreThanItself) {
  proto::CommitRequest request;
  for (int i = 0; i < 10; ++i) {
    (*request.add_writes()->mutable_update()->mutable_fields())["text"].set_string_value(
        std::string(kMebibyte, 't'));
  }
  const std::string bytes = request.SerializeAsString();
  EXPECT_LE(ParsedBytes(*proto::CommitRequest::descriptor(), bytes), 3 * bytes.size() + 10'000);
}

TEST(ParseMemoryTest, NoInputIsTooBadToBeCounted) {
  const auto& type = *proto::CommitRequest::descriptor();
  for (const std::string& bytes :
       {std::string(), std::string("\0", 1), std::string("\x12"), std::string("\x12\x7f\x0a"),
        std::string("\xff\xff\xff\xff\xff\xff"), std::string("\x14"), std::string("\x13\x13\x14"),
        std::string("\x12\xff\xff\xff\xff\x0f")}) {
    EXPECT_LE(ParsedBytes(type, bytes), 1'000u);
  }
  // Each level contains the next one.
  std::string deep;
  for (int level = 0; level < 3'000; ++level) {
    std::string around;
    model::AppendBytes(level % 2 == 0 ? 0x0a : 0x4a, deep, &around);  // Values, array_value.
    deep = std::move(around);
  }
  EXPECT_GT(ParsedBytes(*proto::Value::descriptor(), deep), 10'000u);
}

// A message as deep as libprotobuf accepts does not hide what follows it.
TEST(ParseMemoryTest, CountsAsDeepAsLibprotobufReads) {
  const auto commit_of = [](int depth) {
    // Below the request: a write, its document, a field, the field's value. All further levels are
    // arrays and their values.
    std::string inner;
    for (int level = depth; level > 4; --level) {
      std::string around;
      model::AppendBytes(level % 2 == 1 ? 0x4a : 0x0a, inner, &around);
      inner = std::move(around);
    }
    for (const uint32_t tag : {0x12u, 0x12u, 0x0au, 0x12u}) {
      std::string around;
      model::AppendBytes(tag, inner, &around);
      inner = std::move(around);
    }
    return inner;
  };
  constexpr size_t kCount = 50'000;
  const std::string empty_writes = Repeat(std::string("\x12\x00", 2), kCount);
  const auto& type = *proto::CommitRequest::descriptor();
  const auto is_read = [](const std::string& bytes) {
    proto::CommitRequest request;
    return ParseMessage(bytes, &request).ok();
  };
  const std::string deepest = commit_of(kMessageDepthMax);
  ASSERT_TRUE(is_read(deepest));
  EXPECT_GE(ParsedBytes(type, deepest + empty_writes),
            UsedBytes<proto::CommitRequest>(deepest + empty_writes));
  const std::string too_deep = commit_of(kMessageDepthMax + 1);
  ASSERT_FALSE(is_read(too_deep));
  EXPECT_LE(ParsedBytes(type, too_deep + empty_writes), 10 * kCount);
}

// All that libprotobuf accepts is covered, including damaged messages that happen to be valid.
TEST(ParseMemoryTest, CoversDamagedMessages) {
  proto::CommitRequest request;
  for (int i = 0; i < 4; ++i) {
    proto::Write& write = *request.add_writes();
    auto& fields = *write.mutable_update()->mutable_fields();
    fields["a"].mutable_array_value()->add_values()->set_integer_value(300);
    fields["m"].mutable_map_value();
    fields["t"].set_string_value("text of more than fifteen bytes");
    write.mutable_update_mask()->add_field_paths("a");
    write.add_update_transforms()->set_field_path("b");
    write.mutable_current_document()->mutable_update_time()->set_seconds(1);
  }
  SilenceProtobufLog();  // It would complain about invalid text.
  const std::string valid = request.SerializeAsString();
  Dice dice(TestSeed());
  size_t accepted = 0;
  for (size_t round = 0; round < TestRounds(20'000); ++round) {
    std::string bytes = valid;
    for (size_t change = dice.Below(4); change > 0; --change) {
      bytes[dice.Below(bytes.size())] = static_cast<char>(dice.Below(256));
    }
    proto::CommitRequest damaged;
    if (!damaged.ParsePartialFromString(bytes)) continue;
    ++accepted;
    ASSERT_GE(ParsedBytes(*damaged.descriptor(), bytes), damaged.SpaceUsedLong() - sizeof(damaged));
  }
  EXPECT_GT(accepted, 0u);
}

TEST(ParseMemoryTest, OnlyLongMessagesAreClaimed) {
  const auto& type = *proto::CommitRequest::descriptor();
  const std::string longest(Repeat(std::string("\x12\x00", 2), kUnclaimedBytesMax / 2));
  MemoryBudget memory(8 * kMebibyte);
  MemoryClaim claim(&memory);
  EXPECT_TRUE(ClaimParsed(type, longest, &claim).ok());
  EXPECT_EQ(claim.bytes(), 0u);
  const std::string longer = longest + std::string("\x12\x00", 2);
  EXPECT_EQ(ClaimParsed(type, longer, &claim).code(), Code::kResourceExhausted);
  EXPECT_EQ(claim.bytes(), 0u);
  MemoryBudget larger(64 * kMebibyte);
  MemoryClaim granted(&larger);
  EXPECT_TRUE(ClaimParsed(type, longer, &granted).ok());
  EXPECT_EQ(granted.bytes(), ParsedBytes(type, longer));
}

}  // namespace
}  // namespace hearth::wire
