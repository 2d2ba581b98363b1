#include "execution/tally.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::execution {
namespace {

model::DocumentPath DocumentAt(const std::string& path) {
  return *model::DocumentPath::Parse(path);
}

TEST(TallyTest, CountsWhatItIsTold) {
  Tally tally;
  tally.AddDocument(DocumentAt("c/a"));
  tally.AddDocument(DocumentAt("c/b"));
  EXPECT_TRUE(tally.AddEntry("e1"));
  tally.AddVector();
  tally.AddSkipped();
  tally.AddReturned();
  EXPECT_EQ(tally.statistics().documents_scanned, 2u);
  EXPECT_EQ(tally.statistics().index_entries_scanned, 1u);
  EXPECT_EQ(tally.statistics().vectors_compared, 1u);
  EXPECT_EQ(tally.statistics().results_skipped, 1u);
  EXPECT_EQ(tally.statistics().results_returned, 1u);
}

TEST(TallyTest, CountsOnceWhatMayComeAgain) {
  Tally tally;
  tally.ExpectDocumentsAgain();
  tally.AddDocument(DocumentAt("c/a"));
  tally.AddDocument(DocumentAt("c/a"));
  tally.AddResultDocument(DocumentAt("c/a"));
  tally.AddResultDocument(DocumentAt("c/b"));
  EXPECT_EQ(tally.statistics().documents_scanned, 2u);
  tally.ExpectEntriesAgain();
  EXPECT_TRUE(tally.AddEntry("e1"));
  EXPECT_FALSE(tally.AddEntry("e1"));
  EXPECT_EQ(tally.statistics().index_entries_scanned, 1u);
}

TEST(TallyTest, RemembersNoMoreThanItMay) {
  Tally tally;
  tally.ExpectEntriesAgain();
  for (size_t i = 0; i <= Tally::kRememberedMax; ++i) {
    ASSERT_TRUE(tally.AddEntry(std::to_string(i)));
  }
  EXPECT_FALSE(tally.AddEntry("0"));
  EXPECT_FALSE(tally.AddEntry(std::to_string(Tally::kRememberedMax - 1)));
  EXPECT_TRUE(tally.AddEntry(std::to_string(Tally::kRememberedMax)));
}

TEST(TallyTest, RemembersNoMoreThanThereIsMemoryFor) {
  MemoryBudget memory(MemoryBudget::kSmallBytesMax);
  {
    Tally tally(&memory);
    tally.ExpectEntriesAgain();
    for (size_t i = 0; i <= 10'000; ++i) ASSERT_TRUE(tally.AddEntry(std::to_string(i)));
    EXPECT_FALSE(tally.AddEntry("0"));
    EXPECT_TRUE(tally.AddEntry("10000"));
    EXPECT_GT(memory.used_bytes(), 0u);
  }
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(TallyTest, PausesAfterSomeItemsOrAFewLargeOnes) {
  Tally tally;
  for (const int round : {1, 2}) {
    size_t steps = 1;
    while (!tally.IsTimeToPause(100)) ++steps;
    EXPECT_EQ(steps, 64u) << round;
  }
  EXPECT_TRUE(tally.IsTimeToPause(1024 * 1024));
}

}  // namespace
}  // namespace hearth::execution
