#include "index/entries.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "index/value_key.h"
#include "model/fields.h"
#include "vector/packed_vector.h"

namespace hearth::index {
namespace {

using namespace std::string_literals;
using model::DocumentPath;
using model::FieldPath;

constexpr IndexNumber kNumber{9};

std::string FieldsOf(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string encoded;
  for (const auto& [name, value] : fields) {
    model::AppendField(model::MapView::Tag::kDocument, name, value, &encoded);
  }
  return encoded;
}

Definition RoomsIndex(std::vector<std::pair<std::string, FieldMode>> fields,
                      QueryScope scope = QueryScope::kCollection) {
  Definition definition{"rooms", scope, {}, false};
  for (auto& [path, mode] : fields) definition.fields.push_back({*FieldPath::Parse(path), mode});
  return definition;
}

const DocumentPath kRoom = *DocumentPath::Parse("rooms/r1");

TEST(EntriesTest, OneEntryWithEveryFieldAndTheName) {
  const std::string fields =
      FieldsOf({{"a", model::EncodeInteger(3)}, {"b", model::EncodeString("x")}});
  const auto entries =
      EntriesOf(kNumber, RoomsIndex({{"b", FieldMode::kAscending}, {"a", FieldMode::kDescending}}),
                kRoom, fields);
  ASSERT_EQ(entries->size(), 1u);
  std::string three;
  AppendValueKey(model::ValueView(model::EncodeInteger(3)), &three);
  Complement(0, &three);
  EXPECT_EQ((*entries)[0].key,
            "\x00\x00\x00\x09rooms\x00\x01\x00\x00\x28x\x00\x01"s + three + "r1\x00\x01"s);
  EXPECT_EQ((*entries)[0].value, "");
}

TEST(EntriesTest, NoEntryWithoutAllFields) {
  const std::string fields = FieldsOf({{"a", model::EncodeInteger(3)}});
  const auto entries =
      EntriesOf(kNumber, RoomsIndex({{"a", FieldMode::kAscending}, {"b", FieldMode::kAscending}}),
                kRoom, fields);
  EXPECT_TRUE(entries->empty());
}

TEST(EntriesTest, OneEntryForEachDistinctElement) {
  const std::string fields =
      FieldsOf({{"tags", model::EncodeArray({model::EncodeInteger(2), model::EncodeInteger(1),
                                             model::EncodeDouble(1), model::EncodeNull()})}});
  const Definition contains = RoomsIndex({{"tags", FieldMode::kContains}});
  EXPECT_EQ(EntriesOf(kNumber, contains, kRoom, fields)->size(), 3u);
  EXPECT_TRUE(
      EntriesOf(kNumber, contains, kRoom, FieldsOf({{"tags", model::EncodeInteger(1)}}))->empty());
  EXPECT_TRUE(
      EntriesOf(kNumber, contains, kRoom, FieldsOf({{"tags", model::EncodeArray({})}}))->empty());
}

TEST(EntriesTest, FlagsTellOfDoublesAndOfWhatWasCutOff) {
  const std::string text(5'000, 'x');
  const std::string fields =
      FieldsOf({{"a", model::EncodeDouble(1)}, {"b", model::EncodeString(text)}});
  const auto entries =
      EntriesOf(kNumber, RoomsIndex({{"a", FieldMode::kAscending}, {"b", FieldMode::kAscending}}),
                kRoom, fields);
  const EntryFlags flags = DecodeFlags((*entries)[0].value);
  EXPECT_EQ(flags.doubles, 1u);
  EXPECT_EQ(flags.cut_end, (*entries)[0].key.size() - "r1\x00\x01"s.size());
  EXPECT_EQ(DecodeFlags("").doubles, 0u);
  EXPECT_EQ(DecodeFlags("").cut_end, 0u);
}

TEST(EntriesTest, VectorsAreInTheValue) {
  Definition definition = RoomsIndex({{"a", FieldMode::kAscending}});
  definition.vector = VectorPart{*FieldPath::Parse("m.v"), 2};
  const auto entries_of = [&](const std::string& vector) {
    const std::string fields =
        FieldsOf({{"a", model::EncodeDouble(3)}, {"m", model::EncodeMap({{"v", vector}})}});
    return *EntriesOf(kNumber, definition, kRoom, fields);
  };
  const std::vector<Entry> entries = entries_of(model::EncodeVector({0.1, -2}));
  ASSERT_EQ(entries.size(), 1u);
  definition.vector.reset();
  EXPECT_EQ(entries[0].key, entries_of(model::EncodeVector({0.1, -2}))[0].key);
  definition.vector = VectorPart{*FieldPath::Parse("m.v"), 2};
  const Result<VectorEntry> entry = DecodeVectorEntry(entries[0].value, 2);
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(entry->flags.doubles, 1u);
  EXPECT_EQ(entry->flags.cut_end, 0u);
  EXPECT_EQ(*vector::UnpackVector(entry->packed), (std::vector<double>{0.1, -2}));

  EXPECT_TRUE(entries_of(model::EncodeVector({1, 2, 3})).empty());
  EXPECT_TRUE(entries_of(model::EncodeArray({model::EncodeDouble(1)})).empty());
}

TEST(EntriesTest, DamagedVectorsAreDataLoss) {
  const std::string value = "\x01\x00"s + vector::PackVector(std::vector<double>{1, 2});
  EXPECT_TRUE(DecodeVectorEntry(value, 2).ok());
  for (const std::string& damaged :
       {""s, value.substr(0, 10), value.substr(1), value + "x", "\x05"s + value}) {
    EXPECT_EQ(DecodeVectorEntry(damaged, 2).status().code(), Code::kDataLoss);
  }
  EXPECT_EQ(DecodeVectorEntry(value, 1).status().code(), Code::kDataLoss);
  EXPECT_EQ(DecodeVectorEntry(value, 3).status().code(), Code::kDataLoss);
}

TEST(EntriesTest, NamesComeBack) {
  for (const char* text : {"rooms/r1", "rooms/__id7__", "a/b/c/d", "é/x\x01y"}) {
    const DocumentPath path = *DocumentPath::Parse(text);
    for (const bool descending : {false, true}) {
      std::string name;
      AppendName(path, QueryScope::kCollection, descending, &name);
      EXPECT_EQ(*DecodeName(name, QueryScope::kCollection, descending, path.collection()), path);
      EXPECT_EQ(DecodeName(name + "x", QueryScope::kCollection, descending, path.collection())
                    .status()
                    .code(),
                Code::kDataLoss);
      name.clear();
      AppendName(path, QueryScope::kCollectionGroup, descending, &name);
      EXPECT_EQ(*DecodeName(name, QueryScope::kCollectionGroup, descending, ""), path);
    }
  }
}

TEST(EntriesTest, NamesOfAGroupSortByTheirSegments) {
  std::string last;
  for (const char* text : {"c/__id2__", "c/x", "c/x/c/y", "c/xy", "c/z", "c/z/b/a/c/a", "d/a"}) {
    std::string name;
    AppendName(*DocumentPath::Parse(text), QueryScope::kCollectionGroup, false, &name);
    EXPECT_LT(last, name) << text;
    last = name;
  }
}

TEST(EntriesTest, EntriesBeyondTheLimitAreRefused) {
  std::vector<std::pair<std::string, FieldMode>> modes;
  std::vector<std::pair<std::string, std::string>> values;
  for (const char name : "abcdef"s) {
    modes.emplace_back(std::string(1, name), FieldMode::kAscending);
    values.emplace_back(std::string(1, name), model::EncodeString(std::string(2'000, 'x')));
  }
  const auto entries = EntriesOf(kNumber, RoomsIndex(modes), kRoom, FieldsOf(values));
  EXPECT_EQ(entries.status().code(), Code::kInvalidArgument);
  modes.pop_back();
  EXPECT_TRUE(EntriesOf(kNumber, RoomsIndex(modes), kRoom, FieldsOf(values)).ok());
}

TEST(EntriesTest, ManyLongEntriesAreRefused) {
  const Definition definition =
      RoomsIndex({{"text", FieldMode::kAscending}, {"tags", FieldMode::kContains}});
  const auto entries_with = [&](size_t tags) {
    std::vector<std::string> items;
    for (size_t i = 0; i < tags; ++i)
      items.push_back(model::EncodeInteger(static_cast<int64_t>(i)));
    return EntriesOf(kNumber, definition, kRoom,
                     FieldsOf({{"tags", model::EncodeArray(items)},
                               {"text", model::EncodeString(std::string(1'500, 'x'))}}));
  };
  constexpr size_t kTagsMax = kEntryBytesPerDocumentMax / 1'540;
  EXPECT_TRUE(entries_with(kTagsMax).ok());
  EXPECT_EQ(entries_with(kTagsMax + 200).status().code(), Code::kInvalidArgument);
}

TEST(EntriesTest, TheSameValuesAreFoundWithoutEntries) {
  Definition definition = RoomsIndex({{"a", FieldMode::kAscending}, {"m.b", FieldMode::kContains}});
  const std::string array = model::EncodeArray({model::EncodeInteger(1)});
  const std::string map = model::EncodeMap({{"b", array}, {"c", model::EncodeNull()}});
  const std::string one = model::EncodeInteger(1);
  const std::string fields = FieldsOf({{"a", one}, {"m", map}, {"z", one}});
  const std::string other_map = model::EncodeMap({{"b", array}});
  EXPECT_TRUE(HasSameValues(definition, fields, FieldsOf({{"a", one}, {"m", other_map}})));
  EXPECT_FALSE(
      HasSameValues(definition, fields, FieldsOf({{"a", model::EncodeDouble(1)}, {"m", map}})));
  EXPECT_FALSE(HasSameValues(definition, fields, FieldsOf({{"a", one}})));
  definition.vector = VectorPart{*FieldPath::Parse("z"), 2};
  EXPECT_FALSE(HasSameValues(definition, fields, FieldsOf({{"a", one}, {"m", map}})));
}

TEST(EntriesTest, EachEntryOfAMapHasOne) {
  const Definition definition =
      RoomsIndex({{"open", FieldMode::kAscending}, {"members", FieldMode::kMapEntries}});
  const std::string members =
      model::EncodeMap({{"a", model::EncodeInteger(1)}, {"b", model::EncodeDouble(2.5)}});
  const std::string fields = FieldsOf({{"members", members}, {"open", model::EncodeBoolean(true)}});
  const std::vector<Entry> entries = *EntriesOf(kNumber, definition, kRoom, fields);
  ASSERT_EQ(entries.size(), 2u);
  for (size_t i = 0; i < entries.size(); ++i) {
    std::string key = IndexKeyPrefix(kNumber, kRoom.collection());
    AppendValueKey(model::ValueView(model::EncodeBoolean(true)), &key);
    AppendFieldNameKey(i == 0 ? "a" : "b", &key);
    AppendValueKey(model::ValueView(i == 0 ? model::EncodeInteger(1) : model::EncodeDouble(2.5)),
                   &key);
    AppendName(kRoom, QueryScope::kCollection, false, &key);
    EXPECT_EQ(entries[i].key, key);
    EXPECT_EQ(DecodeFlags(entries[i].value).doubles, i == 0 ? 0u : 2u);
  }
  for (const std::string& other : {model::EncodeInteger(1), model::EncodeMap({})}) {
    const std::string changed =
        FieldsOf({{"members", other}, {"open", model::EncodeBoolean(true)}});
    EXPECT_TRUE(EntriesOf(kNumber, definition, kRoom, changed)->empty());
  }
}

}  // namespace
}  // namespace hearth::index
