#include "doors/rest/path_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::doors::rest {
namespace {

using testing::ElementsAre;
using testing::Pair;

PathTemplate Template(std::string_view text) {
  Result<PathTemplate> parsed = PathTemplate::Parse(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.status().ToString();
  return *std::move(parsed);
}

std::optional<PathTemplate::Values> MatchOf(std::string_view text, std::string_view path) {
  return Template(text).Match(SplitPath(path));
}

TEST(PathTemplateTest, BindsOneSegment) {
  EXPECT_THAT(MatchOf("/v1/{a}/x/{b.c}", "/v1/1/x/2").value(),
              ElementsAre(Pair("a", "1"), Pair("b.c", "2")));
  EXPECT_EQ(MatchOf("/v1/{a}/x", "/v1/1/y"), std::nullopt);
  EXPECT_EQ(MatchOf("/v1/{a}/x", "/v1/1/x/2"), std::nullopt);
  EXPECT_EQ(MatchOf("/v1/{a}/x", "/v1//x"), std::nullopt);
  EXPECT_EQ(MatchOf("/v1/{a}", "/v1"), std::nullopt);
}

TEST(PathTemplateTest, BindsManySegments) {
  const auto name = "/v1/{name=p/*/d/**}";
  EXPECT_THAT(MatchOf(name, "/v1/p/1/d").value(), ElementsAre(Pair("name", "p/1/d")));
  EXPECT_THAT(MatchOf(name, "/v1/p/1/d/a/b").value(), ElementsAre(Pair("name", "p/1/d/a/b")));
  EXPECT_EQ(MatchOf(name, "/v1/p/1/d/"), std::nullopt);
  EXPECT_EQ(MatchOf(name, "/v1/p/1/d/a//b"), std::nullopt);
  EXPECT_EQ(MatchOf(name, "/v1/p/1"), std::nullopt);
}

TEST(PathTemplateTest, ManySegmentsMayHaveOthersBehindThem) {
  const auto parent = "/v1/{parent=d/**}/{id}";
  EXPECT_THAT(MatchOf(parent, "/v1/d/x").value(),
              ElementsAre(Pair("parent", "d"), Pair("id", "x")));
  EXPECT_THAT(MatchOf(parent, "/v1/d/a/b/x").value(),
              ElementsAre(Pair("parent", "d/a/b"), Pair("id", "x")));
  EXPECT_EQ(MatchOf(parent, "/v1/d"), std::nullopt);
}

TEST(PathTemplateTest, KnowsItsVerb) {
  EXPECT_EQ(Template("/v1/{parent=p/*}:runQuery").verb(), "runQuery");
  EXPECT_EQ(Template("/v1/{database=p/*}/documents:commit").verb(), "commit");
  EXPECT_EQ(Template("/v1/{database=p/*}/documents").verb(), "");
  EXPECT_EQ(Template("/v1/x:y").verb(), "y");
}

TEST(PathTemplateTest, KnowsWhetherItEndsInAVariableOfItsOwn) {
  EXPECT_TRUE(Template("/v1/{parent=p/*}/{collection_id}").ends_in_own_variable());
  EXPECT_FALSE(Template("/v1/{name=p/*/**}").ends_in_own_variable());
  EXPECT_FALSE(Template("/v1/{name}/x").ends_in_own_variable());
}

TEST(PathTemplateTest, DecodesSegmentsAfterSplitting) {
  // In a single segment, an encoded slash is an ordinary character; among several it would look
  // like a separator, and stays encoded.
  EXPECT_THAT(MatchOf("/v1/{a}", "/v1/x%2Fy%20z").value(), ElementsAre(Pair("a", "x/y z")));
  EXPECT_THAT(MatchOf("/v1/{a=**}", "/v1/x%2fy%20z/%C3%A9+").value(),
              ElementsAre(Pair("a", "x%2fy z/\u00e9+")));
  EXPECT_THAT(MatchOf("/v1/{a=d/*}", "/v1/%64/%28default%29").value(),
              ElementsAre(Pair("a", "d/(default)")));
  EXPECT_EQ(MatchOf("/v1/{a}", "/v1/x%2"), std::nullopt);
  EXPECT_EQ(MatchOf("/v1/{a}", "/v1/x%zz"), std::nullopt);
}

TEST(PathTemplateTest, RefusesWhatIsNoTemplate) {
  for (const char* text : {"", "v1", "/v1/{a", "/v1/**/{b=**}", "/v1//x", "/v1/{a=x//y}"}) {
    EXPECT_EQ(PathTemplate::Parse(text).status().code(), Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace hearth::doors::rest
