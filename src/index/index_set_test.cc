#include "index/index_set.h"

#include <gtest/gtest.h>

#include "index/testing/definitions.h"
#include "model/value.h"

namespace hearth::index {
namespace {

constexpr model::DatabaseNumber kDatabase{1};

IndexSet SetWithIndexOnN(State state) {
  const Definition definition{"c",
                              QueryScope::kCollection,
                              {{*model::FieldPath::Parse("n"), FieldMode::kAscending}},
                              false};
  return IndexSet({Index{IndexNumber{7}, kDatabase, definition, state, Origin::kOnDemand,
                         std::make_shared<Activity>()}});
}

// The fields {m: m, n: n}.
std::string FieldsOf(int64_t m, int64_t n) {
  std::string fields;
  model::AppendField(model::MapView::Tag::kDocument, "m", model::EncodeInteger(m), &fields);
  model::AppendField(model::MapView::Tag::kDocument, "n", model::EncodeInteger(n), &fields);
  return fields;
}

std::vector<EntryChange> ChangesOf(State state, const std::string& before,
                                   const std::string& after) {
  EntryChanges changes;
  const std::string_view before_view = before;
  const std::string_view after_view = after;
  EXPECT_TRUE(SetWithIndexOnN(state)
                  .AppendChanges(kDatabase, *model::DocumentPath::Parse("c/a"), &before_view,
                                 &after_view, &changes)
                  .ok());
  return changes.changes;
}

TEST(IndexSetTest, WritesNothingWhereNoEntryChanges) {
  EXPECT_TRUE(ChangesOf(State::kReady, FieldsOf(1, 5), FieldsOf(2, 5)).empty());
}

TEST(IndexSetTest, MovesAnEntry) {
  const std::vector<EntryChange> changes = ChangesOf(State::kReady, FieldsOf(1, 5), FieldsOf(1, 6));
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_FALSE(changes[0].value.has_value());
  EXPECT_TRUE(changes[1].value.has_value());
}

// The build skips a document that was written meanwhile, and may not have reached it before.
TEST(IndexSetTest, WritesAllEntriesWhileTheIndexIsBuilt) {
  const std::vector<EntryChange> changes =
      ChangesOf(State::kBuilding, FieldsOf(1, 5), FieldsOf(2, 5));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].value.has_value());
}

TEST(IndexSetTest, AChangeLeavesTheOldSetAsItWas) {
  const auto on = [](uint32_t number, uint32_t database, State state) {
    return Index{IndexNumber{number},
                 model::DatabaseNumber{database},
                 CollectionIndex("rooms", {Up("a")}),
                 state,
                 Origin::kOnDemand,
                 std::make_shared<Activity>()};
  };
  const IndexSet empty;
  const IndexSet one = empty.With(on(1, 7, State::kBuilding));
  const IndexSet three =
      one.With(on(2, 7, State::kReady)).With(on(3, 7 + 64, State::kReady));  // The same shard.
  EXPECT_TRUE(empty.all().empty());
  EXPECT_EQ(one.all().size(), 1u);
  EXPECT_EQ(three.all().size(), 3u);
  EXPECT_EQ(three.OfDatabase(model::DatabaseNumber{7}).size(), 2u);
  EXPECT_EQ(three.Of(model::DatabaseNumber{71}, "rooms").size(), 1u);
  EXPECT_TRUE(three.Of(model::DatabaseNumber{71}, "halls").empty());

  const IndexSet ready = three.With(on(1, 7, State::kReady));
  EXPECT_EQ(ready.all().size(), 3u);
  EXPECT_EQ(one.all()[0]->state, State::kBuilding);
  const IndexSet rest = ready.Without(on(1, 7, State::kReady)).Without(on(2, 7, State::kReady));
  EXPECT_EQ(rest.all().size(), 1u);
  EXPECT_TRUE(rest.OfDatabase(model::DatabaseNumber{7}).empty());
  EXPECT_EQ(ready.all().size(), 3u);
}

}  // namespace
}  // namespace hearth::index
