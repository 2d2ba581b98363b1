#include "index/index_record.h"

#include <gtest/gtest.h>

#include <string>

#include "index/testing/definitions.h"

namespace hearth::index {
namespace {

IndexRecord RecordOf(std::optional<VectorPart> vector) {
  IndexRecord record{
      model::DatabaseNumber{7}, State::kBuilding, Origin::kDeclared, 123, "progress", {}};
  record.definition = {"rooms",
                       QueryScope::kCollectionGroup,
                       {{*model::FieldPath::Parse("a.`b c`"), FieldMode::kDescending},
                        {*model::FieldPath::Parse("t"), FieldMode::kContains}},
                       true,
                       std::move(vector)};
  return record;
}

const VectorPart kVector{*model::FieldPath::Parse("m.v"), 768};

TEST(IndexRecordTest, ComesBack) {
  for (const std::optional<VectorPart>& vector : {std::optional<VectorPart>(), {kVector}}) {
    const IndexRecord record = RecordOf(vector);
    const Result<IndexRecord> decoded = DecodeIndexRecord(EncodeIndexRecord(record));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->database, record.database);
    EXPECT_EQ(decoded->state, record.state);
    EXPECT_EQ(decoded->origin, record.origin);
    EXPECT_EQ(decoded->used_at_micros, record.used_at_micros);
    EXPECT_EQ(decoded->progress, record.progress);
    EXPECT_EQ(decoded->definition, record.definition);
  }
}

TEST(IndexRecordTest, DamageIsDataLoss) {
  IndexRecord record = RecordOf(kVector);
  record.definition.fields.clear();
  const std::string bytes = EncodeIndexRecord(record);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeIndexRecord(bytes.substr(0, size)).status().code(), Code::kDataLoss) << size;
  }
  EXPECT_EQ(DecodeIndexRecord(bytes + "\x09").status().code(), Code::kDataLoss);
  record.definition.vector->dimension = 2'049;
  EXPECT_EQ(DecodeIndexRecord(EncodeIndexRecord(record)).status().code(), Code::kDataLoss);
}

TEST(IndexRecordTest, AnIndexOfMapEntriesComesBack) {
  IndexRecord record = RecordOf({});
  record.definition.fields = {Entries("members"), Up("size")};
  EXPECT_EQ(DecodeIndexRecord(EncodeIndexRecord(record))->definition, record.definition);
}

}  // namespace
}  // namespace hearth::index
