#include "execution/merge.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hearth::execution {
namespace {

Item ItemOf(const std::string& key, size_t record_bytes) {
  return {.key = {key, 0}, .record = std::make_shared<const std::string>(record_bytes, 'r')};
}

TEST(MergeTest, DropsLargeRecords) {
  const Layout layout;
  std::vector<std::unique_ptr<Stream>> inputs;
  inputs.push_back(
      NewListStream({ItemOf("a", kMergedRecordBytesMax), ItemOf("c", kMergedRecordBytesMax + 1)}));
  inputs.push_back(NewListStream({ItemOf("b", 10), ItemOf("c", kMergedRecordBytesMax + 1)}));
  const std::unique_ptr<Stream> merge = NewMerge(std::move(inputs), layout);
  Item item;
  for (const char* key : {"a", "b"}) {
    ASSERT_TRUE(*merge->Next(&item));
    EXPECT_EQ(item.key.bytes, key);
    EXPECT_NE(item.record, nullptr);
  }
  ASSERT_TRUE(*merge->Next(&item));
  EXPECT_EQ(item.key.bytes, "c");
  EXPECT_EQ(item.record, nullptr);
  EXPECT_TRUE(item.was_read) << "it does not count again when it is read again";
  EXPECT_TRUE(item.was_cut) << "aggregations read its fields";
  EXPECT_FALSE(*merge->Next(&item));
}

}  // namespace
}  // namespace hearth::execution
