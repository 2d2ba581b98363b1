#include "doors/webchannel/inbox.h"

#include <gtest/gtest.h>

#include "doors/webchannel/options.h"

namespace hearth::doors::webchannel {
namespace {

constexpr size_t kBytesMax = 10'000;

std::string TakeAll(Inbox* inbox) {
  std::string all;
  while (const auto message = inbox->Next()) all += **message;
  return all;
}

TEST(InboxTest, GivesMapsInOrder) {
  Inbox inbox(10, kBytesMax);
  ASSERT_TRUE(inbox.Add({{0, "a"}, {1, "b"}}).ok());
  EXPECT_TRUE(inbox.has_next());
  EXPECT_EQ(TakeAll(&inbox), "ab");
  EXPECT_FALSE(inbox.has_next());
}

TEST(InboxTest, HoldsWhatCameTooEarly) {
  Inbox inbox(10, kBytesMax);
  ASSERT_TRUE(inbox.Add({{2, "c"}}).ok());
  EXPECT_EQ(TakeAll(&inbox), "");
  ASSERT_TRUE(inbox.Add({{0, "a"}}).ok());
  EXPECT_EQ(TakeAll(&inbox), "a");
  ASSERT_TRUE(inbox.Add({{1, "b"}}).ok());
  EXPECT_EQ(TakeAll(&inbox), "bc");
}

TEST(InboxTest, TakesNothingTwice) {
  Inbox inbox(10, kBytesMax);
  ASSERT_TRUE(inbox.Add({{0, "a"}, {1, "b"}}).ok());
  EXPECT_EQ(TakeAll(&inbox), "ab");
  ASSERT_TRUE(inbox.Add({{0, "a"}, {1, "b"}, {2, "c"}, {4, "e"}}).ok());
  ASSERT_TRUE(inbox.Add({{4, "x"}, {3, "d"}}).ok());
  EXPECT_EQ(TakeAll(&inbox), "cde");
}

TEST(InboxTest, BoundsTheNumberOfMaps) {
  Inbox inbox(2, kBytesMax);
  ASSERT_TRUE(inbox.Add({{5, "f"}, {6, "g"}}).ok());
  EXPECT_EQ(inbox.Add({{0, "a"}}).code(), Code::kResourceExhausted);
  EXPECT_TRUE(inbox.Add({{5, "f"}}).ok());  // It was already added.
  inbox.Clear();
  ASSERT_TRUE(inbox.Add({{0, "a"}, {1, "b"}}).ok());
  EXPECT_EQ(TakeAll(&inbox), "ab");
  EXPECT_TRUE(inbox.Add({{2, "c"}, {3, "d"}}).ok());
}

TEST(InboxTest, BoundsTheBytes) {
  Inbox inbox(10, 8 + kHeldMapBytes);
  ASSERT_TRUE(inbox.Add({{0, "12345678"}}).ok());
  EXPECT_EQ(inbox.Add({{1, "9"}}).code(), Code::kResourceExhausted);
  EXPECT_EQ(TakeAll(&inbox), "12345678");
  EXPECT_TRUE(inbox.Add({{1, "9"}}).ok());
  EXPECT_EQ(inbox.Add({{3, "12345678"}}).code(), Code::kResourceExhausted);
  EXPECT_EQ(TakeAll(&inbox), "9");
}

TEST(InboxTest, CountsErrorsToo) {
  Inbox inbox(10, 8 + kHeldMapBytes);
  EXPECT_EQ(inbox.Add({{1, InvalidArgument("123456789")}}).code(), Code::kResourceExhausted);
  EXPECT_TRUE(inbox.Add({{1, InvalidArgument("12345678")}}).ok());
  EXPECT_EQ(inbox.held_bytes(), 8 + kHeldMapBytes);
  EXPECT_EQ(inbox.Add({{2, ""}}).code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace hearth::doors::webchannel
