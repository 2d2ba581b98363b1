#include "wire/partition_page.h"

#include <gtest/gtest.h>

#include "model/value.h"
#include "request/page_token.h"

namespace hearth::wire {
namespace {

using query::Bound;

constexpr char kRequest[] = "request";

std::string NameInC(const std::string& id) {
  return "projects/p1/databases/(default)/documents/c/" + id;
}

std::vector<Bound> Points(const std::vector<std::string>& ids) {
  std::vector<Bound> points;
  for (const std::string& id : ids) {
    points.push_back({{model::EncodeReference(NameInC(id))}, true});
  }
  return points;
}

std::vector<std::string> IdsOf(const PartitionPage& page) {
  std::vector<std::string> ids;
  for (const Bound& bound : page.bounds) {
    EXPECT_TRUE(bound.before);
    ids.emplace_back(model::ValueView(bound.values.at(0)).text().substr(NameInC("").size()));
  }
  return ids;
}

using Ids = std::vector<std::string>;

TEST(PartitionPageTest, WalksThroughAllPoints) {
  const std::vector<Bound> points = Points({"a", "b", "c", "d", "e"});
  PartitionPage page = MakePartitionPage(points, 10, 2, {}, kRequest);
  EXPECT_EQ(IdsOf(page), (Ids{"a", "b"}));
  page = MakePartitionPage(points, 10, 2, *ReadPartitionToken(page.next_page_token, kRequest),
                           kRequest);
  EXPECT_EQ(IdsOf(page), (Ids{"c", "d"}));
  page = MakePartitionPage(points, 10, 2, *ReadPartitionToken(page.next_page_token, kRequest),
                           kRequest);
  EXPECT_EQ(IdsOf(page), (Ids{"e"}));
  EXPECT_EQ(page.next_page_token, "");
}

TEST(PartitionPageTest, AFullLastPageIsTheLast) {
  EXPECT_EQ(MakePartitionPage(Points({"a", "b"}), 10, 2, {}, kRequest).next_page_token, "");
  EXPECT_NE(MakePartitionPage(Points({"a", "b", "c"}), 10, 2, {}, kRequest).next_page_token, "");
  EXPECT_EQ(MakePartitionPage({}, 10, 2, {}, kRequest).next_page_token, "");
}

TEST(PartitionPageTest, GivesNoMorePointsThanWanted) {
  // All new since the previous page, and more than there were.
  const PartitionProgress progress = {2, model::EncodeReference(NameInC("b"))};
  const PartitionPage page =
      MakePartitionPage(Points({"a1", "b1", "b2", "b3"}), 4, 10, progress, kRequest);
  EXPECT_EQ(IdsOf(page), (Ids{"b1", "b2"}));
  EXPECT_EQ(page.next_page_token, "");
  EXPECT_TRUE(MakePartitionPage(Points({"c"}), 1, 10, progress, kRequest).bounds.empty());
}

TEST(PartitionPageTest, RefusesForeignTokens) {
  const Status invalid = InvalidArgument("invalid page token");
  const auto verdict = [](const std::vector<std::string>& parts) {
    return ReadPartitionToken(request::EncodePageToken(kRequest, parts), kRequest).status();
  };
  EXPECT_EQ(verdict({"2", NameInC("b")}), Status());
  EXPECT_EQ(verdict({}), invalid);
  EXPECT_EQ(verdict({"2"}), invalid);
  EXPECT_EQ(verdict({"2", NameInC("b"), "x"}), invalid);
  EXPECT_EQ(verdict({"2", "c/b"}), invalid);
  EXPECT_EQ(verdict({"", NameInC("b")}), invalid);
  EXPECT_EQ(verdict({"-2", NameInC("b")}), invalid);
  EXPECT_EQ(verdict({"2x", NameInC("b")}), invalid);
  EXPECT_EQ(verdict({"99999999999999999999", NameInC("b")}), invalid);
  EXPECT_EQ(ReadPartitionToken("!", kRequest).status(), invalid);
  EXPECT_EQ(ReadPartitionToken(request::EncodePageToken("another", {"2", NameInC("b")}), kRequest)
                .status(),
            invalid);
}

}  // namespace
}  // namespace hearth::wire
