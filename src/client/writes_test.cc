#include "client/writes.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "model/limits.h"

namespace hearth::client {
namespace {

using model::TransformKind;
using request::Write;
using request::WriteKind;
using Texts = std::vector<std::string>;

const model::DocumentPath& Room() {
  static const model::DocumentPath path = *model::DocumentPath::Parse("rooms/a");
  return path;
}

Map FieldsOf(const Write& write) { return Decode(write.fields.view()); }

std::optional<Texts> MaskOf(const Write& write) {
  if (!write.mask) return std::nullopt;
  Texts paths;
  for (const model::FieldPath& path : *write.mask) paths.push_back(path.ToString());
  return paths;
}

Texts TransformsOf(const Write& write) {
  Texts texts;
  for (const model::FieldTransform& transform : write.transforms) {
    std::string text =
        transform.path.ToString() + "#" + std::to_string(static_cast<int>(transform.kind));
    if (!transform.operand.empty()) {
      text += " " + ToString(Decode(model::ValueView(transform.operand)));
    }
    texts.push_back(text);
  }
  return texts;
}

std::string Transformed(const std::string& path, TransformKind kind,
                        const std::string& operand = "") {
  return path + "#" + std::to_string(static_cast<int>(kind)) +
         (operand.empty() ? "" : " " + operand);
}

TEST(WritesTest, Create) {
  const Result<Write> write = CreateWrite(Room(), {{"a", 1}, {"b", Map{{"c", 2}}}});
  ASSERT_TRUE(write.ok());
  EXPECT_EQ(write->kind, WriteKind::kUpdate);
  EXPECT_EQ(FieldsOf(*write), (Map{{"a", 1}, {"b", Map{{"c", 2}}}}));
  EXPECT_EQ(MaskOf(*write), std::nullopt);
  EXPECT_EQ(write->precondition.exists, false);
}

TEST(WritesTest, SetTakesFieldValuesOut) {
  const Result<Write> write = SetWrite(Room(),
                                       {{"a", 1},
                                        {"n", FieldValue::Increment(2)},
                                        {"m", Map{{"t", FieldValue::ServerTimestamp()}}},
                                        {"empty", Map{}},
                                        {"x.y", Map{{"z", FieldValue::ArrayUnion({1, "b"})}}}},
                                       {});
  ASSERT_TRUE(write.ok()) << write.status().ToString();
  EXPECT_EQ(FieldsOf(*write), (Map{{"a", 1}, {"empty", Map{}}}));
  EXPECT_EQ(MaskOf(*write), std::nullopt);
  EXPECT_EQ(write->precondition.exists, std::nullopt);
  EXPECT_EQ(TransformsOf(*write),
            (Texts{Transformed("m.t", TransformKind::kServerTime),
                   Transformed("n", TransformKind::kIncrement, "2"),
                   Transformed("`x.y`.z", TransformKind::kArrayUnion, "[1, \"b\"]")}));
}

TEST(WritesTest, MergeNamesTheLeaves) {
  const Result<Write> write =
      SetWrite(Room(),
               {{"a", Map{{"b", 1}, {"c.d", Map{{"e", FieldValue::Delete()}}}, {"f", Map{}}}},
                {"g", FieldValue::Minimum(1)},
                {"h", Array{Map{{"i", 1}}}}},
               {.merge = true});
  ASSERT_TRUE(write.ok()) << write.status().ToString();
  EXPECT_EQ(MaskOf(*write), (Texts{"a.b", "a.`c.d`.e", "a.f", "h"}));
  EXPECT_EQ(FieldsOf(*write),
            (Map{{"a", Map{{"b", 1}, {"f", Map{}}}}, {"h", Array{Map{{"i", 1}}}}}));
  EXPECT_EQ(TransformsOf(*write), (Texts{Transformed("g", TransformKind::kMinimum, "1")}));
}

TEST(WritesTest, MergeOfNothingHasAnEmptyMask) {
  EXPECT_EQ(MaskOf(*SetWrite(Room(), {}, {.merge = true})), Texts{});
  EXPECT_EQ(MaskOf(*SetWrite(Room(), {{"t", FieldValue::ServerTimestamp()}}, {.merge = true})),
            Texts{});
}

TEST(WritesTest, MergeFieldsTakesWhatTheyName) {
  const Map data{{"a", Map{{"b", 1}, {"c", 2}}},
                 {"d", FieldValue::Increment(1)},
                 {"e", FieldValue::Delete()},
                 {"f", Map{{"g", FieldValue::ServerTimestamp()}, {"h", 1}}},
                 {"other", FieldValue::Increment(1)}};
  const Result<Write> write =
      SetWrite(Room(), data, {.merge_fields = {"a.b", "d", "e", "f", "f.h"}});
  ASSERT_TRUE(write.ok()) << write.status().ToString();
  EXPECT_EQ(MaskOf(*write), (Texts{"a.b", "e", "f"}));
  EXPECT_EQ(FieldsOf(*write), (Map{{"a", Map{{"b", 1}}}, {"f", Map{{"h", 1}}}}));
  EXPECT_EQ(TransformsOf(*write), (Texts{Transformed("d", TransformKind::kIncrement, "1"),
                                         Transformed("f.g", TransformKind::kServerTime)}));
}

TEST(WritesTest, MergeFieldsMustBeThere) {
  EXPECT_EQ(SetWrite(Room(), {{"a", 1}}, {.merge_fields = {"a.b"}}).status(),
            InvalidArgument("Input data is missing for field \"a.b\"."));
  EXPECT_EQ(SetWrite(Room(), {{"a", 1}}, {.merge_fields = {"a..b"}}).status().code(),
            Code::kInvalidArgument);
}

TEST(WritesTest, UpdateSetsPaths) {
  const Result<Write> write = UpdateWrite(Room(),
                                          {{"a.b", 1},
                                           {"a.c", Map{{"d.e", 2}}},
                                           {"`x.y`", FieldValue::Delete()},
                                           {"n", FieldValue::Maximum(3)},
                                           {"m", Map{{"t", FieldValue::ServerTimestamp()}}}},
                                          {});
  ASSERT_TRUE(write.ok()) << write.status().ToString();
  // A map with only transforms left is cleared before they apply.
  EXPECT_EQ(MaskOf(*write), (Texts{"a.b", "a.c", "m", "`x.y`"}));
  EXPECT_EQ(FieldsOf(*write), (Map{{"a", Map{{"b", 1}, {"c", Map{{"d.e", 2}}}}}}));
  EXPECT_EQ(TransformsOf(*write), (Texts{Transformed("m.t", TransformKind::kServerTime),
                                         Transformed("n", TransformKind::kMaximum, "3")}));
  EXPECT_EQ(write->precondition.exists, true);
}

TEST(WritesTest, UpdatePreconditions) {
  const Timestamp time = Timestamp::FromMicros(5);
  const Result<Write> timed = UpdateWrite(Room(), {{"a", 1}}, {.last_update_time = time});
  ASSERT_TRUE(timed.ok());
  EXPECT_EQ(timed->precondition.exists, std::nullopt);
  EXPECT_EQ(timed->precondition.update_time, time);
  EXPECT_TRUE(UpdateWrite(Room(), {{"a", 1}}, {.exists = true}).ok());
  EXPECT_EQ(UpdateWrite(Room(), {{"a", 1}}, {.exists = false}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(UpdateWrite(Room(), {{"a", 1}}, {.exists = true, .last_update_time = time}).status(),
            InvalidArgument("Input specifies more than one precondition."));
}

TEST(WritesTest, UpdatePathsMustNotOverlap) {
  EXPECT_EQ(UpdateWrite(Room(), {{"a.b.c", 1}, {"a.b", 1}}, {}).status(),
            InvalidArgument("Field \"a.b\" was specified multiple times."));
  EXPECT_EQ(UpdateWrite(Room(), {{"`a`", 1}, {"a", 1}}, {}).status(),
            InvalidArgument("Field \"a\" was specified multiple times."));
  EXPECT_TRUE(UpdateWrite(Room(), {{"a.b", 1}, {"a.bc", 1}}, {}).ok());
}

TEST(WritesTest, DeletesOnlyWhereTheyMakeSense) {
  const Map top{{"a", FieldValue::Delete()}};
  const Map nested{{"a", Map{{"b", FieldValue::Delete()}}}};
  const Map in_array{{"a", Array{FieldValue::Delete()}}};
  EXPECT_EQ(CreateWrite(Room(), top).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(SetWrite(Room(), top, {}).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(SetWrite(Room(), top, {.merge = true}).ok());
  EXPECT_TRUE(SetWrite(Room(), nested, {.merge = true}).ok());
  EXPECT_TRUE(SetWrite(Room(), nested, {.merge_fields = {"a"}}).ok());
  EXPECT_TRUE(UpdateWrite(Room(), top, {}).ok());
  EXPECT_TRUE(UpdateWrite(Room(), {{"a.b", FieldValue::Delete()}}, {}).ok());
  EXPECT_EQ(UpdateWrite(Room(), nested, {}).status(),
            InvalidArgument("FieldValue::Delete() must appear at the top-level and can only be "
                            "used in Update() or Set() with merge (found in field \"a.b\")."));
  EXPECT_EQ(SetWrite(Room(), in_array, {.merge = true}).status().code(), Code::kInvalidArgument);
}

TEST(WritesTest, OperandsMustFit) {
  const auto code = [](FieldValue value) {
    return SetWrite(Room(), {{"a", std::move(value)}}, {}).status().code();
  };
  EXPECT_EQ(code(FieldValue::Increment("x")), Code::kInvalidArgument);
  EXPECT_EQ(code(FieldValue::Maximum(nullptr)), Code::kInvalidArgument);
  EXPECT_EQ(code(FieldValue::ArrayUnion({FieldValue::Delete()})), Code::kInvalidArgument);
  EXPECT_EQ(code(FieldValue::ArrayUnion({Value(Array{1})})), Code::kInvalidArgument);
  EXPECT_EQ(code(FieldValue::ArrayRemove({})), Code::kOk);
}

TEST(WritesTest, TransformsAreLimited) {
  Map data;
  for (size_t i = 0; i < model::kTransformsPerDocumentMax; ++i) {
    data["f" + std::to_string(i)] = FieldValue::Increment(1);
  }
  EXPECT_TRUE(SetWrite(Room(), data, {}).ok());
  data["more"] = FieldValue::Increment(1);
  EXPECT_EQ(SetWrite(Room(), data, {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(UpdateWrite(Room(), data, {}).status().code(), Code::kInvalidArgument);
}

TEST(WritesTest, Delete) {
  const Result<Write> write = DeleteWrite(Room(), {.exists = false});
  ASSERT_TRUE(write.ok());
  EXPECT_EQ(write->kind, WriteKind::kDelete);
  EXPECT_EQ(write->precondition.exists, false);
}

}  // namespace
}  // namespace hearth::client
