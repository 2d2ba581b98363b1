#include "wire/order_by.h"

#include <gtest/gtest.h>

#include "model/testing/printers.h"

namespace hearth::wire {
namespace {

using query::Order;
using query::SortDirection;

// Formats the parsed orders as "x asc, y.z desc".
std::string Parsed(std::string_view text) {
  const Result<std::vector<Order>> orders = ParseOrderBy(text);
  if (!orders.ok()) return orders.status().ToString();
  std::string again;
  for (const Order& order : *orders) {
    again += (again.empty() ? "" : ", ") + order.path.ToString() +
             (order.direction == SortDirection::kAscending ? " asc" : " desc");
  }
  return again;
}

TEST(OrderByTest, PathsWithDirections) {
  EXPECT_EQ(Parsed(""), "");
  EXPECT_EQ(Parsed("x"), "x asc");
  EXPECT_EQ(Parsed("x asc"), "x asc");
  EXPECT_EQ(Parsed("x desc"), "x desc");
  EXPECT_EQ(Parsed("x DESC"), "x desc");
  EXPECT_EQ(Parsed("x  desc"), "x desc");
  EXPECT_EQ(Parsed("x, z desc"), "x asc, z desc");
  EXPECT_EQ(Parsed("x,z desc,y.p"), "x asc, z desc, y.p asc");
  EXPECT_EQ(Parsed("__name__"), "__name__ asc");
  EXPECT_EQ(Parsed("x, __name__ desc"), "x asc, __name__ desc");
}

TEST(OrderByTest, QuotedPaths) {
  EXPECT_EQ(Parsed("`s p`"), "`s p` asc");
  EXPECT_EQ(Parsed("`a,b` desc, `c desc`"), "`a,b` desc, `c desc` asc");
  EXPECT_EQ(Parsed("a.`b c`.d desc"), "a.`b c`.d desc");
  EXPECT_EQ(Parsed("`a\\`, b` desc"), "`a\\`, b` desc");
}

TEST(OrderByTest, RefusesEverythingElse) {
  for (const std::string text :
       {"x,", ",", ",x", "x foo", "x desc desc", "x asc desc", "a..b", "desc desc desc", "1a", " ",
        "x,,y", "`a", "a` desc", "x;y", "x descending", "é"}) {
    EXPECT_EQ(ParseOrderBy(text).status(),
              InvalidArgument("Invalid order by clause \"" + text + "\"."));
  }
}

TEST(OrderByTest, HasALimit) {
  std::string text;
  for (size_t i = 0; i < kOrdersMax; ++i) text += (i == 0 ? "f" : ",f") + std::to_string(i);
  EXPECT_EQ(ParseOrderBy(text)->size(), kOrdersMax);
  EXPECT_EQ(ParseOrderBy(text + ",g").status(),
            InvalidArgument("order by clause cannot contain more than 100 fields"));
}

}  // namespace
}  // namespace hearth::wire
