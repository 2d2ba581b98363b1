#include "index/definition.h"

#include <gtest/gtest.h>

#include <string_view>

namespace hearth::index {
namespace {

IndexField Field(std::string_view path, FieldMode mode) {
  return {.path = *model::FieldPath::Parse(path), .mode = mode};
}
IndexField Up(std::string_view path) { return Field(path, FieldMode::kAscending); }
IndexField Down(std::string_view path) { return Field(path, FieldMode::kDescending); }
IndexField In(std::string_view path) { return Field(path, FieldMode::kContains); }

Definition Index(std::vector<IndexField> fields, bool name_descending) {
  return {.collection_id = "rooms",
          .scope = QueryScope::kCollectionGroup,
          .fields = std::move(fields),
          .name_descending = name_descending};
}

TEST(DefinitionTest, CanonicalStartsAscending) {
  EXPECT_EQ(Canonical(Index({Up("a"), Down("b")}, true)), Index({Up("a"), Down("b")}, true));
  EXPECT_EQ(Canonical(Index({Down("a"), Up("b")}, false)), Index({Up("a"), Down("b")}, true));
}

TEST(DefinitionTest, CanonicalLooksPastMembership) {
  EXPECT_EQ(Canonical(Index({In("t"), Down("a")}, true)), Index({In("t"), Up("a")}, false));
  EXPECT_EQ(Canonical(Index({In("t"), Up("a")}, true)), Index({In("t"), Up("a")}, true));
}

TEST(DefinitionTest, CanonicalWithoutOrderedFieldGoesByTheName) {
  EXPECT_EQ(Canonical(Index({}, true)), Index({}, false));
  EXPECT_EQ(Canonical(Index({In("t")}, true)), Index({In("t")}, false));
  EXPECT_EQ(Canonical(Index({In("t")}, false)), Index({In("t")}, false));
}

TEST(DefinitionTest, CanonicalIsTheSameForBothReadingDirections) {
  const Definition forward = Index({Up("a"), In("t"), Down("b")}, true);
  const Definition backward = Index({Down("a"), In("t"), Up("b")}, false);
  EXPECT_EQ(Canonical(forward), Canonical(backward));
  EXPECT_EQ(Canonical(Canonical(backward)), Canonical(backward));
}

TEST(DefinitionTest, CanonicalVectorIndexesHaveNoDirections) {
  Definition definition = Index({Down("a"), In("t"), Up("b")}, true);
  definition.vector = VectorPart{*model::FieldPath::Parse("v"), 3};
  Definition expected = Index({Up("a"), In("t"), Up("b")}, false);
  EXPECT_NE(Canonical(definition), expected);
  expected.vector = definition.vector;
  EXPECT_EQ(Canonical(definition), expected);
  expected.vector->dimension = 4;
  EXPECT_LT(Canonical(definition), expected);
  EXPECT_EQ(Properties(Canonical(definition)),
            "(a ASC, t CONTAINS, b ASC, __name__ ASC, v VECTOR<3>)");
}

TEST(DefinitionTest, PropertiesAreFirestoresText) {
  EXPECT_EQ(Properties(Index({}, false)), "(__name__ ASC)");
  EXPECT_EQ(Properties(Index({Up("foo"), In("tags")}, false)),
            "(foo ASC, tags CONTAINS, __name__ ASC)");
  EXPECT_EQ(Properties(Index({Down("a.`b-c`")}, true)), "(a.`b-c` DESC, __name__ DESC)");
}

}  // namespace
}  // namespace hearth::index
