#include "engine/document_edit.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/testing/writes.h"
#include "model/limits.h"

namespace hearth::engine {
namespace {

using model::EncodeArray;
using model::EncodeDouble;
using model::EncodeInteger;
using model::EncodeMap;
using model::EncodeNull;
using model::EncodeString;
using model::EncodeTimestamp;
using model::Fields;
using model::FieldTransform;
using model::Timestamp;
using model::TransformKind;

constexpr int64_t kCreated = 1'000'000;
constexpr int64_t kUpdated = 2'000'000;
constexpr Timestamp kCommit = Timestamp::FromMicros(1'700'000'000'123'456);
constexpr char kPath[] = "rooms/r1";
constexpr char kName[] = "projects/p1/databases/(default)/documents/rooms/r1";

Record Stored(const FieldMap& fields) {
  return std::make_shared<const std::string>(RecordOf(kCreated, kUpdated, MakeFields(fields)));
}

// A commit's writes to one document.
struct Edited {
  Status status;
  bool is_change = false;
  Record after;
  std::vector<std::vector<std::string>> transform_results;
};

Edited Edit(const Record& before, std::vector<Write> writes) {
  const model::DatabaseName database = NameDatabase();
  const model::DocumentPath path = Path(kPath);
  DocumentEdit edit(database, path, before);
  EXPECT_EQ(edit.before(), before);
  Edited edited;
  for (Write& write : writes) {
    edited.status = edit.Apply(write, kCommit, &edited.transform_results.emplace_back());
    if (!edited.status.ok()) return edited;
  }
  edited.is_change = edit.IsChange();
  edited.after = edit.After(kCommit);
  return edited;
}

Edited Edit(const Record& before, Write write) {
  return Edit(before, std::vector<Write>{std::move(write)});
}

// The commit changed the document into `fields`, and it is as old as it was.
void ExpectUpdated(const Edited& edited, const FieldMap& fields) {
  EXPECT_EQ(edited.status, Status());
  EXPECT_TRUE(edited.is_change);
  ASSERT_NE(edited.after, nullptr);
  EXPECT_EQ(*edited.after, RecordOf(kCreated, kCommit.micros(), MakeFields(fields)));
}

void ExpectCreated(const Edited& edited, const FieldMap& fields) {
  EXPECT_EQ(edited.status, Status());
  EXPECT_TRUE(edited.is_change);
  ASSERT_NE(edited.after, nullptr);
  EXPECT_EQ(*edited.after, RecordOf(kCommit.micros(), kCommit.micros(), MakeFields(fields)));
}

void ExpectUnchanged(const Record& before, const Edited& edited) {
  EXPECT_EQ(edited.status, Status());
  EXPECT_FALSE(edited.is_change);
  ASSERT_NE(edited.after, nullptr);
  EXPECT_EQ(*edited.after, *before);
}

void ExpectNothingThere(const Edited& edited, bool is_change) {
  EXPECT_EQ(edited.status, Status());
  EXPECT_EQ(edited.is_change, is_change);
  EXPECT_EQ(edited.after, nullptr);
}

Write SetFields(const FieldMap& fields) { return Set(kPath, MakeFields(fields)); }

Write MergeFields(const FieldMap& fields, std::initializer_list<std::string_view> mask) {
  return Merge(kPath, MakeFields(fields), mask);
}

FieldTransform Make(TransformKind kind, std::string_view field, std::string operand) {
  return {FieldAt(field), kind, std::move(operand)};
}

Write TransformField(TransformKind kind, std::string_view field, std::string operand) {
  return Transform(kPath, {Make(kind, field, std::move(operand))});
}

const Status kNoDocument(Code::kNotFound, std::string("No document to update: ") + kName);
const Status kAlreadyThere(Code::kAlreadyExists, std::string("Document already exists: ") + kName);

Status WrongVersion(int64_t stored, int64_t required) {
  return Status(Code::kFailedPrecondition, "the stored version (" + std::to_string(stored) +
                                               ") does not match the required base version (" +
                                               std::to_string(required) + ")");
}

const Status kLaterVersion = InvalidArgument(
    std::string("Invalid base version, it is greater than the stored version: ") + kName);

Write Verify() {
  Write verify = Delete(kPath);
  verify.kind = WriteKind::kVerify;
  return verify;
}

// Every kind of write obeys preconditions.
std::vector<Write> EveryKind() {
  return {SetFields({}), MergeFields({}, {"a"}), Delete(kPath), Verify(),
          TransformField(TransformKind::kIncrement, "n", EncodeInteger(1))};
}

TEST(DocumentEditTest, ExistsPreconditions) {
  const Record stored = Stored({});
  for (const Write& write : EveryKind()) {
    EXPECT_EQ(Edit(nullptr, IfExists(write)).status, kNoDocument);
    EXPECT_EQ(Edit(stored, IfExists(write)).status, Status());
    EXPECT_EQ(Edit(stored, IfMissing(write)).status, kAlreadyThere);
    EXPECT_EQ(Edit(nullptr, IfMissing(write)).status, Status());
  }
}

TEST(DocumentEditTest, UpdateTimePreconditions) {
  const Record stored = Stored({});
  const auto at = [](int64_t micros) { return Timestamp::FromMicros(micros); };
  for (const Write& write : EveryKind()) {
    EXPECT_EQ(Edit(stored, IfUpdatedAt(write, at(kUpdated))).status, Status());
    EXPECT_EQ(Edit(stored, IfUpdatedAt(write, at(kUpdated + 1))).status, kLaterVersion);
    EXPECT_EQ(Edit(stored, IfUpdatedAt(write, at(kUpdated - 1))).status,
              WrongVersion(kUpdated, kUpdated - 1));
    EXPECT_EQ(Edit(stored, IfUpdatedAt(write, at(kCreated))).status,
              WrongVersion(kUpdated, kCreated));
    EXPECT_EQ(Edit(stored, IfUpdatedAt(write, at(0))).status, WrongVersion(kUpdated, 0));
    EXPECT_EQ(Edit(nullptr, IfUpdatedAt(write, at(kUpdated))).status, WrongVersion(0, kUpdated));
    EXPECT_EQ(Edit(nullptr, IfUpdatedAt(write, at(0))).status, Status());
  }
}

TEST(DocumentEditTest, LaterPreconditionsSeeEarlierWrites) {
  const Record stored = Stored({});
  const Write set = SetFields({});
  const Write remove = Delete(kPath);
  EXPECT_EQ(Edit(nullptr, {set, IfExists(set)}).status, Status());
  const auto impossible = [](const std::string& what) {
    return InvalidArgument("Cannot " + what + " an entity in the same request.");
  };
  EXPECT_EQ(Edit(nullptr, {set, IfMissing(set)}).status, impossible("upsert then insert"));
  EXPECT_EQ(Edit(nullptr, {IfMissing(set), IfMissing(set)}).status,
            impossible("insert then insert"));
  EXPECT_EQ(Edit(stored, {remove, IfMissing(set)}).status, Status());
  EXPECT_EQ(Edit(stored, {remove, IfExists(set)}).status, impossible("delete then update"));
  EXPECT_EQ(Edit(stored, {remove, IfExists(remove)}).status, impossible("delete then delete"));
  EXPECT_EQ(Edit(nullptr, {remove, IfExists(set)}).status, impossible("delete then update"));
  const Write at_version = IfUpdatedAt(set, Timestamp::FromMicros(kUpdated));
  EXPECT_EQ(Edit(stored, {at_version, at_version}).status, Status());
  EXPECT_EQ(Edit(stored, {remove, at_version}).status, impossible("delete then update"));
  EXPECT_EQ(Edit(stored, {remove, set, at_version}).status, WrongVersion(0, kUpdated));
  const Write later = IfUpdatedAt(set, Timestamp::FromMicros(kUpdated + 1));
  EXPECT_EQ(Edit(stored, {set, later}).status, kLaterVersion);
  // What this commit makes has no version that a required one could be later than.
  EXPECT_EQ(Edit(nullptr, {set, later}).status, WrongVersion(0, kUpdated + 1));
  EXPECT_EQ(Edit(stored, {remove, set, later}).status, WrongVersion(0, kUpdated + 1));
}

TEST(DocumentEditTest, VerifyingChangesNothing) {
  const Write verify = Verify();
  const Record stored = Stored({{"a", EncodeInteger(1)}});
  EXPECT_EQ(Edit(stored, IfExists(verify)).status, Status());
  EXPECT_EQ(Edit(stored, IfExists(verify)).after, stored);
  EXPECT_EQ(Edit(nullptr, IfExists(verify)).status, kNoDocument);
  EXPECT_EQ(Edit(stored, IfMissing(verify)).status, kAlreadyThere);
}

TEST(DocumentEditTest, WithoutMaskTheDocumentIsReplaced) {
  ExpectUpdated(Edit(Stored({{"a", EncodeInteger(1)}, {"b", EncodeInteger(2)}}),
                     SetFields({{"b", EncodeInteger(3)}})),
                {{"b", EncodeInteger(3)}});
  ExpectCreated(Edit(nullptr, SetFields({{"b", EncodeInteger(3)}})), {{"b", EncodeInteger(3)}});
  ExpectUpdated(Edit(Stored({{"a", EncodeInteger(1)}}), SetFields({})), {});
}

TEST(DocumentEditTest, AMaskSetsAndRemoves) {
  const Record stored = Stored({{"a", EncodeInteger(1)}, {"b", EncodeInteger(2)}});
  ExpectUpdated(Edit(stored, MergeFields({{"a", EncodeInteger(9)}, {"c", EncodeInteger(9)}},
                                         {"a", "b"})),  // c is not in the mask.
                {{"a", EncodeInteger(9)}});
  ExpectUnchanged(stored, Edit(stored, MergeFields({{"a", EncodeInteger(9)}}, {})));
  ExpectUnchanged(stored, Edit(stored, MergeFields({}, {"missing", "missing.too"})));
  ExpectUnchanged(stored, Edit(stored, MergeFields({}, {"__name__"})));
}

TEST(DocumentEditTest, AMaskReachesIntoMaps) {
  const std::string map =
      EncodeMap({{"c", EncodeInteger(1)}, {"d", EncodeMap({{"e", EncodeInteger(2)}})}});
  const Record stored = Stored({{"a", EncodeInteger(1)}, {"b", map}});
  const auto with_b = [](const std::string& b) -> FieldMap {
    return {{"a", EncodeInteger(1)}, {"b", b}};
  };
  const std::string d = EncodeMap({{"e", EncodeInteger(2)}});

  // Siblings stay; a map that loses its last field stays, empty.
  ExpectUpdated(Edit(stored, MergeFields({}, {"b.c"})), with_b(EncodeMap({{"d", d}})));
  ExpectUpdated(Edit(stored, MergeFields({}, {"b.d.e"})),
                with_b(EncodeMap({{"c", EncodeInteger(1)}, {"d", EncodeMap({})}})));
  ExpectUpdated(Edit(stored, MergeFields({{"b", EncodeMap({{"x", EncodeInteger(5)}})}}, {"b.x"})),
                with_b(EncodeMap({{"c", EncodeInteger(1)}, {"d", d}, {"x", EncodeInteger(5)}})));
  // Removing below what is no map changes nothing; setting there makes it a map.
  ExpectUnchanged(stored, Edit(stored, MergeFields({}, {"a.x"})));
  ExpectUpdated(Edit(stored, MergeFields({{"a", EncodeMap({{"x", EncodeInteger(5)}})}}, {"a.x"})),
                {{"a", EncodeMap({{"x", EncodeInteger(5)}})}, {"b", map}});
  // The update's b is no map, so it has no b.c.
  ExpectUpdated(Edit(stored, MergeFields({{"b", EncodeInteger(1)}}, {"b.c"})),
                with_b(EncodeMap({{"d", d}})));
}

TEST(DocumentEditTest, OfOverlappingPathsTheOuterOneWins) {
  const Record stored = Stored({{"b", EncodeMap({{"c", EncodeInteger(1)}})}});
  const std::string update = EncodeMap({{"d", EncodeInteger(2)}});
  for (const auto& mask : {std::initializer_list<std::string_view>{"b", "b.c"}, {"b.c", "b"}}) {
    ExpectUpdated(Edit(stored, MergeFields({{"b", update}}, mask)), {{"b", update}});
    ExpectUpdated(Edit(stored, MergeFields({}, mask)), {});
  }
  ExpectUpdated(Edit(stored, MergeFields({{"b", update}}, {"b", "b", "`b`"})), {{"b", update}});
}

TEST(DocumentEditTest, AMaskedWriteCreates) {
  ExpectCreated(Edit(nullptr, MergeFields({{"a", EncodeInteger(1)}}, {"a"})),
                {{"a", EncodeInteger(1)}});
  ExpectCreated(Edit(nullptr, MergeFields({{"a", EncodeInteger(1)}}, {})), {});
  ExpectCreated(Edit(nullptr, MergeFields({}, {"a"})), {});
  ExpectCreated(Edit(nullptr, MergeFields({{"a", EncodeMap({{"b", EncodeInteger(1)}})}}, {"a.b"})),
                {{"a", EncodeMap({{"b", EncodeInteger(1)}})}});
}

TEST(DocumentEditTest, TransformsApplyAfterTheFields) {
  Write write = SetFields({{"n", EncodeInteger(5)}});
  write.transforms = {Increment("n", 1), Increment("n", 2), Increment("fresh", 3)};
  const Edited edited = Edit(Stored({{"n", EncodeInteger(100)}, {"gone", EncodeNull()}}), write);
  ExpectUpdated(edited, {{"n", EncodeInteger(8)}, {"fresh", EncodeInteger(3)}});
  EXPECT_EQ(edited.transform_results[0],
            (std::vector<std::string>{EncodeInteger(6), EncodeInteger(8), EncodeInteger(3)}));
}

TEST(DocumentEditTest, TransformsOfEveryKind) {
  const Record stored = Stored(
      {{"list", EncodeArray({EncodeInteger(1), EncodeInteger(2)})}, {"n", EncodeInteger(5)}});
  Write write = Transform(
      kPath, {Make(TransformKind::kServerTime, "t", ""),
              Make(TransformKind::kMaximum, "n", EncodeInteger(7)),
              Make(TransformKind::kMinimum, "n", EncodeDouble(6.5)),
              Make(TransformKind::kArrayUnion, "list", EncodeArray({EncodeInteger(3)})),
              Make(TransformKind::kArrayRemove, "list", EncodeArray({EncodeInteger(1)}))});
  const Edited edited = Edit(stored, write);
  const std::string millis = EncodeTimestamp(Timestamp::FromMicros(1'700'000'000'123'000));
  ExpectUpdated(edited, {{"list", EncodeArray({EncodeInteger(2), EncodeInteger(3)})},
                         {"n", EncodeDouble(6.5)},
                         {"t", millis}});
  EXPECT_EQ(edited.transform_results[0],
            (std::vector<std::string>{millis, EncodeInteger(7), EncodeDouble(6.5), EncodeNull(),
                                      EncodeNull()}));
}

TEST(DocumentEditTest, TransformsCreateAndMakeMaps) {
  ExpectCreated(Edit(nullptr, Transform(kPath, {Increment("a.b", 1)})),
                {{"a", EncodeMap({{"b", EncodeInteger(1)}})}});
  ExpectUpdated(Edit(Stored({{"a", EncodeInteger(1)}}), Transform(kPath, {Increment("a.b", 1)})),
                {{"a", EncodeMap({{"b", EncodeInteger(1)}})}});
}

TEST(DocumentEditTest, ATransformCannotMakeAReservedField) {
  EXPECT_EQ(Edit(nullptr, Transform(kPath, {Increment("__name__", 1)})).status.code(),
            Code::kInvalidArgument);
}

TEST(DocumentEditTest, ATransformCannotMakePathsTooLong) {
  const auto add = [](size_t name_bytes) {
    const std::string element = EncodeMap({{std::string(name_bytes, 'x'), EncodeInteger(1)}});
    return TransformField(TransformKind::kArrayUnion, "a.b", EncodeArray({element}));
  };
  EXPECT_EQ(Edit(nullptr, add(1'496)).status, Status());
  EXPECT_EQ(Edit(nullptr, add(1'497)).status,
            InvalidArgument("Property a contains an invalid nested entity."));
}

TEST(DocumentEditTest, ATransformCannotNestTooDeep) {
  std::string path = "a";
  for (size_t i = 1; i < model::kFieldPathSegmentsMax; ++i) path += ".a";
  const FieldTransform deep = {FieldAt(path), TransformKind::kArrayUnion,
                               EncodeArray({EncodeMap({{"m", EncodeMap({})}})})};
  EXPECT_EQ(Edit(nullptr, Transform(kPath, {deep})).status,
            InvalidArgument("Property a contains an invalid nested entity."));
}

TEST(DocumentEditTest, DocumentsHaveALimit) {
  // 32 for the document, 16 + 6 + 3 for its name, 1 + 1 for the field's, 1 for the text.
  constexpr size_t kTextBytes = model::kDocumentBytesMax - (32 + 16 + 6 + 3 + 1 + 1 + 1);
  const auto two_fields = [](size_t bytes) -> FieldMap {
    // No single value may be that long.
    return {{"a", EncodeString(std::string(bytes / 2, 'x'))},
            {"b", EncodeString(std::string(bytes - bytes / 2 - 3, 'x'))}};
  };
  EXPECT_EQ(Edit(nullptr, SetFields(two_fields(kTextBytes))).status, Status());
  const Status too_large = InvalidArgument(
      std::string("Document '") + kName +
      "' cannot be written because its size (1,048,577 bytes) exceeds the maximum allowed size of "
      "1,048,576 bytes.");
  EXPECT_EQ(Edit(nullptr, SetFields(two_fields(kTextBytes + 1))).status, too_large);
  // What counts is the document afterwards, not what was sent.
  const Record half = Stored({{"a", two_fields(kTextBytes)["a"]}});
  EXPECT_EQ(Edit(half, MergeFields({{"b", two_fields(kTextBytes + 1)["b"]}}, {"b"})).status,
            too_large);
  const std::string item = EncodeString(std::string(600'000, 'x'));
  EXPECT_EQ(Edit(half, TransformField(TransformKind::kArrayUnion, "b", EncodeArray({item})))
                .status.code(),
            Code::kInvalidArgument);
  // Preconditions come first.
  EXPECT_EQ(Edit(nullptr, IfExists(SetFields(two_fields(kTextBytes + 1)))).status, kNoDocument);
}

TEST(DocumentEditTest, WhatChangesNothingKeepsItsTimes) {
  const Record stored = Stored({{"list", EncodeArray({EncodeInteger(1)})},
                                {"max", EncodeInteger(std::numeric_limits<int64_t>::max())},
                                {"n", EncodeInteger(5)},
                                {"nan", EncodeDouble(std::numeric_limits<double>::quiet_NaN())}});
  const Fields same = Fields::FromTrusted(std::string(model::RecordFields(*stored)));
  ExpectUnchanged(stored, Edit(stored, Set(kPath, same)));
  ExpectUnchanged(stored, Edit(stored, MergeFields({{"n", EncodeInteger(5)}}, {"n", "x"})));
  ExpectUnchanged(stored, Edit(stored, Transform(kPath, {Increment("n", 0)})));
  ExpectUnchanged(stored, Edit(stored, Transform(kPath, {Increment("max", 7)})));
  for (const auto& [kind, field, operand] :
       std::vector<std::tuple<TransformKind, const char*, std::string>>{
           {TransformKind::kMaximum, "n", EncodeDouble(5)},
           {TransformKind::kMinimum, "n", EncodeInteger(6)},
           {TransformKind::kIncrement, "nan", EncodeInteger(1)},
           {TransformKind::kArrayUnion, "list", EncodeArray({EncodeDouble(1)})},
           {TransformKind::kArrayRemove, "list", EncodeArray({EncodeInteger(2)})}}) {
    const Edited edited = Edit(stored, TransformField(kind, field, operand));
    ExpectUnchanged(stored, edited);
    EXPECT_EQ(edited.transform_results[0].size(), 1u);  // It has a result all the same.
  }
  ExpectUnchanged(stored, Edit(stored, {SetFields({}), Set(kPath, same)}));
  ExpectUnchanged(stored, Edit(stored, {Set(kPath, same), Set(kPath, same)}));
  ExpectUnchanged(stored, Edit(stored, {Transform(kPath, {Increment("n", 3)}),
                                        Transform(kPath, {Increment("n", -3)})}));
}

TEST(DocumentEditTest, EqualNumbersOfAnotherTypeAreAChange) {
  ExpectUpdated(Edit(Stored({{"n", EncodeInteger(1)}}), SetFields({{"n", EncodeDouble(1)}})),
                {{"n", EncodeDouble(1)}});
  ExpectUpdated(Edit(Stored({{"n", EncodeDouble(-0.0)}}), SetFields({{"n", EncodeDouble(0.0)}})),
                {{"n", EncodeDouble(0.0)}});
}

TEST(DocumentEditTest, Deletes) {
  ExpectNothingThere(Edit(Stored({}), Delete(kPath)), true);
  ExpectNothingThere(Edit(nullptr, Delete(kPath)), false);
  ExpectNothingThere(Edit(nullptr, {SetFields({}), Delete(kPath)}), false);
  ExpectNothingThere(Edit(Stored({}), {SetFields({}), Delete(kPath), Delete(kPath)}), true);
}

TEST(DocumentEditTest, WhatComesAfterADeleteIsANewDocument) {
  const FieldMap fields = {{"a", EncodeInteger(1)}};
  const Record stored = Stored(fields);
  ExpectCreated(Edit(stored, {Delete(kPath), SetFields(fields)}), fields);
  ExpectCreated(Edit(stored, {Delete(kPath), MergeFields({}, {})}), {});
  ExpectCreated(Edit(nullptr, {Delete(kPath), SetFields(fields)}), fields);
  ExpectCreated(Edit(stored, {Delete(kPath), SetFields({}), SetFields(fields)}), fields);
}

TEST(DocumentEditTest, SeveralWritesApplyInOrder) {
  const Edited edited = Edit(Stored({{"a", EncodeInteger(1)}}),
                             {MergeFields({{"b", EncodeInteger(2)}}, {"b"}),
                              Transform(kPath, {Increment("b", 5)}), MergeFields({}, {"a"})});
  ExpectUpdated(edited, {{"b", EncodeInteger(7)}});
  EXPECT_EQ(edited.transform_results[1], std::vector<std::string>{EncodeInteger(7)});
}

TEST(DocumentEditTest, TransformsAreCountedOverAllWrites) {
  const auto transforms = [](size_t count) {
    return Transform(kPath, std::vector<FieldTransform>(count, Increment("n", 1)));
  };
  EXPECT_EQ(Edit(nullptr, {transforms(250), transforms(250)}).status, Status());
  EXPECT_EQ(Edit(nullptr, {transforms(250), transforms(251)}).status,
            InvalidArgument("a document can have at most 500 field transforms in one commit: " +
                            std::string(kName)));
}

TEST(DocumentEditTest, UntouchedIsUnchanged) {
  const Record stored = Stored({});
  ExpectUnchanged(stored, Edit(stored, std::vector<Write>{}));
  ExpectNothingThere(Edit(nullptr, std::vector<Write>{}), false);
}

}  // namespace
}  // namespace hearth::engine
