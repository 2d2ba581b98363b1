#include "index/definition.h"

#include <gtest/gtest.h>

#include "index/testing/definitions.h"

namespace hearth::index {
namespace {

TEST(DefinitionTest, CanonicalStartsAscending) {
  EXPECT_EQ(Canonical(GroupIndex("rooms", {Up("a"), Down("b")}, true)),
            GroupIndex("rooms", {Up("a"), Down("b")}, true));
  EXPECT_EQ(Canonical(GroupIndex("rooms", {Down("a"), Up("b")}, false)),
            GroupIndex("rooms", {Up("a"), Down("b")}, true));
}

TEST(DefinitionTest, CanonicalLooksPastMembership) {
  EXPECT_EQ(Canonical(GroupIndex("rooms", {In("t"), Down("a")}, true)),
            GroupIndex("rooms", {In("t"), Up("a")}, false));
  EXPECT_EQ(Canonical(GroupIndex("rooms", {In("t"), Up("a")}, true)),
            GroupIndex("rooms", {In("t"), Up("a")}, true));
}

TEST(DefinitionTest, CanonicalWithoutOrderedFieldGoesByTheName) {
  EXPECT_EQ(Canonical(GroupIndex("rooms", {}, true)), GroupIndex("rooms", {}, false));
  EXPECT_EQ(Canonical(GroupIndex("rooms", {In("t")}, true)), GroupIndex("rooms", {In("t")}, false));
  EXPECT_EQ(Canonical(GroupIndex("rooms", {In("t")}, false)),
            GroupIndex("rooms", {In("t")}, false));
}

TEST(DefinitionTest, CanonicalIsTheSameForBothReadingDirections) {
  const Definition forward = GroupIndex("rooms", {Up("a"), In("t"), Down("b")}, true);
  const Definition backward = GroupIndex("rooms", {Down("a"), In("t"), Up("b")}, false);
  EXPECT_EQ(Canonical(forward), Canonical(backward));
  EXPECT_EQ(Canonical(Canonical(backward)), Canonical(backward));
}

TEST(DefinitionTest, CanonicalVectorIndexesHaveNoDirections) {
  Definition definition = GroupIndex("rooms", {Down("a"), In("t"), Up("b")}, true);
  definition.vector = VectorPart{*model::FieldPath::Parse("v"), 3};
  Definition expected = GroupIndex("rooms", {Up("a"), In("t"), Up("b")}, false);
  EXPECT_NE(Canonical(definition), expected);
  expected.vector = definition.vector;
  EXPECT_EQ(Canonical(definition), expected);
  expected.vector->dimension = 4;
  EXPECT_LT(Canonical(definition), expected);
  EXPECT_EQ(Properties(Canonical(definition)),
            "(a ASC, t CONTAINS, b ASC, __name__ ASC, v VECTOR<3>)");
}

TEST(DefinitionTest, PropertiesAreFirestoresText) {
  EXPECT_EQ(Properties(GroupIndex("rooms", {}, false)), "(__name__ ASC)");
  EXPECT_EQ(Properties(GroupIndex("rooms", {Up("foo"), In("tags")}, false)),
            "(foo ASC, tags CONTAINS, __name__ ASC)");
  EXPECT_EQ(Properties(GroupIndex("rooms", {Down("a.`b-c`")}, true)),
            "(a.`b-c` DESC, __name__ DESC)");
}

}  // namespace
}  // namespace hearth::index
