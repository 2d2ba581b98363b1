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

TEST(DefinitionTest, FieldsOfAMapHaveASharedForm) {
  const Definition exact = CollectionIndex("rooms", {Up("open"), Up("members.`u-1`"), Up("size")});
  const Definition shared = CollectionIndex("rooms", {Up("open"), Entries("members"), Up("size")});
  EXPECT_EQ(SharedForm(exact, 1), shared);
  EXPECT_EQ(SharedForm(exact, 0), std::nullopt);   // Not in a map.
  EXPECT_EQ(SharedForm(shared, 1), std::nullopt);  // Shared already.
  EXPECT_EQ(SharedForm(CollectionIndex("rooms", {Down("members.u1")}), 0), std::nullopt);
  EXPECT_EQ(MapPosition(shared), 1u);
  EXPECT_EQ(MapPosition(exact), std::nullopt);
  EXPECT_EQ(FormFor(exact.fields[1].path, shared), exact);
  EXPECT_EQ(FormFor(*model::FieldPath::Parse("members.u1.rank"), shared), std::nullopt);
  EXPECT_EQ(FormFor(*model::FieldPath::Parse("guests.u1"), shared), std::nullopt);
  EXPECT_EQ(Canonical(shared), shared);
  EXPECT_EQ(Properties(shared), "(open ASC, members MAP, size ASC, __name__ ASC)");
}

}  // namespace
}  // namespace hearth::index
