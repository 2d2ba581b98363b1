#include "http/stream_order.h"

#include <gtest/gtest.h>

namespace hearth::http {
namespace {

TEST(StreamOrderTest, IdsGrow) {
  StreamOrder order;
  for (const int32_t id : {1, 3, 9, 11, 101}) EXPECT_TRUE(order.Note(id)) << id;
  // Trailers.
  for (const int32_t id : {1, 3, 9, 11, 101}) EXPECT_TRUE(order.Note(id)) << id;
  for (const int32_t id : {5, 7, 13, 99}) EXPECT_FALSE(order.Note(id)) << id;
}

TEST(StreamOrderTest, BothSidesOfTheLimitOfSkippedRanges) {
  StreamOrder order;
  int32_t id = 1;
  for (size_t i = 0; i < StreamOrder::kSkippedRangesMax; ++i) {
    EXPECT_TRUE(order.Note(id += 4));
    EXPECT_TRUE(order.Note(id += 2));
  }
  EXPECT_FALSE(order.Note(3));  // The first one is still known.
  EXPECT_TRUE(order.Note(id + 2));
  EXPECT_FALSE(order.Note(id + 6));
}

}  // namespace
}  // namespace hearth::http
