#include "query/matcher.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/value.h"
#include "query/testing/values.h"

namespace hearth::query {
namespace {

using model::EncodeArray;
using model::EncodeBoolean;
using model::EncodeBytes;
using model::EncodeDouble;
using model::EncodeGeoPoint;
using model::EncodeInteger;
using model::EncodeMap;
using model::EncodeReference;
using model::EncodeString;
using model::EncodeTimestamp;
using model::EncodeVector;
using model::ValueView;

// Values in ascending order, one list per type. NaN and null are not in any range.
const std::vector<std::vector<std::string>>& Types() {
  static const std::vector<std::vector<std::string>> types = {
      {EncodeBoolean(false), EncodeBoolean(true)},
      {EncodeDouble(-std::numeric_limits<double>::infinity()), EncodeInteger(-1), EncodeDouble(0.5),
       EncodeInteger(std::numeric_limits<int64_t>::max()), EncodeDouble(9223372036854775808.0)},
      {EncodeTimestamp(model::Timestamp::FromMicros(1)),
       EncodeTimestamp(model::Timestamp::FromMicros(2))},
      {EncodeString(""), EncodeString("a"), EncodeString("b")},
      {EncodeBytes(""), EncodeBytes("a")},
      {Ref("c/__id7__"), Ref("c/a"), Ref("c/a/s/b"), Ref("c/b")},
      {EncodeGeoPoint({1, 2}), EncodeGeoPoint({1, 3})},
      {EncodeArray({}), EncodeArray({kNull}), EncodeArray({EncodeInteger(1)})},
      {EncodeVector({2}), EncodeVector({1, 1})},
      {EncodeMap({}), EncodeMap({{"a", EncodeInteger(1)}})}};
  return types;
}

bool Passes(Operator op, const std::string& operand, const std::string& value) {
  return PassesFilter({Path("x"), op, operand}, ValueView(value));
}

struct Place {
  size_t type;
  size_t rank;  // Among the values of its type.
};

void ExpectPlainMeanings(const std::string& value, Place at, const std::string& operand,
                         Place bound) {
  const bool is_same_type = at.type == bound.type;
  const bool is_equal = is_same_type && at.rank == bound.rank;
  EXPECT_EQ(Passes(Operator::kEqual, operand, value), is_equal);
  EXPECT_EQ(Passes(Operator::kNotEqual, operand, value), !is_equal);
  EXPECT_EQ(Passes(Operator::kNotIn, EncodeArray({operand}), value), !is_equal);
  EXPECT_EQ(Passes(Operator::kLess, operand, value), is_same_type && at.rank < bound.rank);
  EXPECT_EQ(Passes(Operator::kLessOrEqual, operand, value), is_same_type && at.rank <= bound.rank);
  EXPECT_EQ(Passes(Operator::kGreater, operand, value), is_same_type && at.rank > bound.rank);
  EXPECT_EQ(Passes(Operator::kGreaterOrEqual, operand, value),
            is_same_type && at.rank >= bound.rank);
}

TEST(PassesFilterTest, ComparesWithinOneType) {
  const auto& types = Types();
  for (size_t left = 0; left < types.size(); ++left) {
    for (size_t right = 0; right < types.size(); ++right) {
      for (size_t i = 0; i < types[left].size(); ++i) {
        for (size_t j = 0; j < types[right].size(); ++j) {
          SCOPED_TRACE(testing::Message() << left << "[" << i << "], " << right << "[" << j << "]");
          ExpectPlainMeanings(types[left][i], {left, i}, types[right][j], {right, j});
        }
      }
    }
  }
}

TEST(PassesFilterTest, LeavesNullAndNanOutOfRanges) {
  for (const auto& type : Types()) {
    for (const std::string& operand : type) {
      for (const Operator op : {Operator::kLess, Operator::kLessOrEqual, Operator::kGreaterOrEqual,
                                Operator::kGreater}) {
        EXPECT_FALSE(Passes(op, operand, kNull));
        EXPECT_FALSE(Passes(op, operand, kNan));
      }
    }
  }
}

TEST(PassesFilterTest, FindsNullAndNanByEquality) {
  EXPECT_TRUE(Passes(Operator::kEqual, kNull, kNull));
  EXPECT_FALSE(Passes(Operator::kEqual, kNull, kNan));
  EXPECT_TRUE(Passes(Operator::kEqual, kNan, kNan));
  EXPECT_FALSE(Passes(Operator::kEqual, kNan, EncodeInteger(0)));
  EXPECT_FALSE(Passes(Operator::kEqual, EncodeInteger(0), kNull));
}

TEST(PassesFilterTest, LeavesNullOutOfNegations) {
  const std::string one = EncodeInteger(1);
  EXPECT_FALSE(Passes(Operator::kNotEqual, one, kNull));
  EXPECT_TRUE(Passes(Operator::kNotEqual, one, kNan));
  EXPECT_FALSE(Passes(Operator::kNotEqual, kNull, kNull));
  EXPECT_TRUE(Passes(Operator::kNotEqual, kNull, kNan));
  EXPECT_FALSE(Passes(Operator::kNotEqual, kNan, kNull));
  EXPECT_FALSE(Passes(Operator::kNotEqual, kNan, kNan));
  EXPECT_TRUE(Passes(Operator::kNotEqual, kNan, EncodeString("a")));
  EXPECT_FALSE(Passes(Operator::kNotIn, EncodeArray({one}), kNull));
  EXPECT_TRUE(Passes(Operator::kNotIn, EncodeArray({one}), kNan));
  EXPECT_FALSE(Passes(Operator::kNotIn, EncodeArray({EncodeInteger(2), one}), one));
  EXPECT_TRUE(Passes(Operator::kNotIn, EncodeArray({EncodeInteger(2), one}), EncodeInteger(3)));
}

using FieldsList = std::vector<std::pair<std::string, std::string>>;

// Owns the data that a candidate borrows.
struct Document {
  Document(const std::string& path_text, const FieldsList& named_values)
      : path(*model::DocumentPath::Parse(path_text)) {
    for (const auto& [name, value] : named_values) {
      model::AppendField(model::MapView::Tag::kDocument, name, value, &fields);
    }
  }
  Candidate candidate() const { return {database, path, fields}; }

  model::DatabaseName database = *model::DatabaseName::Parse("projects/p/databases/(default)");
  model::DocumentPath path;
  std::string fields;
};

TEST(MatchesTest, FindsTheFieldOfAFilter) {
  const std::string one = EncodeInteger(1);
  const Document document("c/a", {{"a.b", EncodeInteger(2)},
                                  {"m", EncodeMap({{"k", EncodeMap({{"n", one}})}})},
                                  {"v", EncodeVector({1})},
                                  {"x", one}});
  const auto matches = [&document](const std::string& path, Operator op, const std::string& value) {
    return Matches(FieldFilter{Path(path), op, value}, document.candidate());
  };
  EXPECT_TRUE(matches("x", Operator::kEqual, one));
  EXPECT_FALSE(matches("x", Operator::kGreater, one));
  EXPECT_TRUE(matches("m.k.n", Operator::kEqual, one));
  EXPECT_TRUE(matches("`a.b`", Operator::kEqual, EncodeInteger(2)));
  EXPECT_FALSE(matches("a.b", Operator::kEqual, EncodeInteger(2)));
  // A missing field passes no filter.
  EXPECT_FALSE(matches("y", Operator::kNotEqual, one));
  EXPECT_FALSE(matches("y", Operator::kEqual, kNull));
  EXPECT_FALSE(matches("x.y", Operator::kNotEqual, one));
  EXPECT_FALSE(matches("m.z", Operator::kNotIn, EncodeArray({one})));
  EXPECT_FALSE(matches("v.value", Operator::kArrayContains, EncodeDouble(1)));
}

TEST(MatchesTest, ComparesTheNameWithReferences) {
  const Document document("c/b", {});
  const auto matches = [&document](Operator op, const std::string& value) {
    return Matches(FieldFilter{Path("__name__"), op, value}, document.candidate());
  };
  EXPECT_TRUE(matches(Operator::kEqual, Ref("c/b")));
  EXPECT_FALSE(matches(Operator::kEqual, Ref("c/b/s/x")));
  EXPECT_FALSE(matches(Operator::kNotEqual, Ref("c/b")));
  EXPECT_TRUE(matches(Operator::kNotEqual, Ref("c/a")));
  EXPECT_TRUE(matches(Operator::kGreater, Ref("c/a")));
  EXPECT_TRUE(matches(Operator::kGreater, Ref("c/a/s/x")));
  EXPECT_TRUE(matches(Operator::kGreater, Ref("c/__id9__")));
  EXPECT_FALSE(matches(Operator::kGreater, Ref("c/b")));
  EXPECT_TRUE(matches(Operator::kGreaterOrEqual, Ref("c/b")));
  EXPECT_TRUE(matches(Operator::kLess, Ref("c/b/s/x")));
  // "c" sorts before "c-", although "/" sorts after "-".
  EXPECT_TRUE(matches(Operator::kLess, Ref("c-/a")));
  EXPECT_FALSE(matches(Operator::kLess, Ref("c/b")));
  EXPECT_TRUE(matches(Operator::kLessOrEqual, Ref("c/b")));
  EXPECT_FALSE(matches(Operator::kNotIn, EncodeArray({Ref("c/a"), Ref("c/b")})));
  EXPECT_TRUE(matches(Operator::kNotIn, EncodeArray({Ref("c/a"), Ref("d/b")})));
  EXPECT_FALSE(matches(Operator::kArrayContains, Ref("c/b")));
  // The database is compared first.
  EXPECT_TRUE(matches(Operator::kGreater, EncodeReference("projects/a/databases/d/documents/z/z")));
  EXPECT_TRUE(matches(Operator::kLess, EncodeReference("projects/p/databases/d/documents/a/a")));
}

}  // namespace
}  // namespace hearth::query
