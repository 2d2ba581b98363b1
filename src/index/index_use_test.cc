#include "index/index_use.h"

#include <gtest/gtest.h>

namespace hearth::index {
namespace {

TEST(IndexUseTest, ComesBack) {
  Activity activity;
  activity.created_micros = 1;
  activity.uses = 2;
  activity.reads_saved = 3;
  activity.reads_without = 4;
  activity.document_writes = 5;
  activity.entries_written = 6;
  activity.score = -7;
  activity.scored_at_micros = 8;
  Activity decoded;
  ASSERT_EQ(DecodeIndexUse(EncodeIndexUse(activity), &decoded), Status());
  EXPECT_EQ(EncodeIndexUse(decoded), EncodeIndexUse(activity));
  EXPECT_EQ(decoded.score, -7);
  // What the score already counts is not counted again.
  EXPECT_EQ(decoded.scored_reads_saved, 3u);
  EXPECT_EQ(decoded.scored_entries, 6u);
}

TEST(IndexUseTest, DamageIsDataLoss) {
  Activity activity;
  const std::string bytes = EncodeIndexUse(activity);
  EXPECT_EQ(DecodeIndexUse(bytes.substr(1), &activity).code(), Code::kDataLoss);
  EXPECT_EQ(DecodeIndexUse(bytes + "x", &activity).code(), Code::kDataLoss);
}

}  // namespace
}  // namespace hearth::index
