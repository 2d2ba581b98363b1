#include <gtest/gtest.h>

#include "base/testing/test_seed.h"
#include "model/fields.h"
#include "model/testing/random_value.h"

namespace hearth::model {
namespace {

using Children = std::map<std::string, Tree>;

FieldPath Path(std::string_view text) { return *FieldPath::Parse(text); }

// The map that holds the last segment of `path`; null if there is none.
Children* NaiveParent(Children* fields, const FieldPath& path, bool create) {
  for (size_t i = 0; i + 1 < path.segments().size(); ++i) {
    const std::string& segment = path.segments()[i];
    if (!create && !fields->contains(segment)) return nullptr;
    Tree& child = (*fields)[segment];
    if (child.type != ValueType::kMap) {
      if (!create) return nullptr;
      child = {.type = ValueType::kMap};
    }
    fields = &child.fields;
  }
  return fields;
}

std::optional<std::string> NaiveGet(Children* fields, const FieldPath& path) {
  const Children* parent = NaiveParent(fields, path, false);
  if (parent == nullptr) return std::nullopt;
  const auto found = parent->find(path.segments().back());
  return found == parent->end() ? std::nullopt : std::optional(EncodeTree(found->second));
}

FieldPath RandomPath(RandomTrees* random) {
  static const std::vector<std::string> kSegments = {"a", "b", "`z.z`", "value"};
  std::string text = random->Pick(kSegments);
  while (random->Below(2) == 1) text += "." + random->Pick(kSegments);
  return Path(text.size() > 40 ? "a" : text);
}

TEST(FieldEditorTest, AgreesWithANaiveModel) {
  const uint64_t seed = TestSeed();
  RandomTrees random(seed);
  for (int round = 0; round < 2'000; ++round) {
    Children model = random.Fields(4);
    FieldEditor editor(Fields::FromTrusted(EncodeDocumentFields(model)));
    for (int step = 0; step < 6; ++step) {
      const FieldPath path = RandomPath(&random);
      SCOPED_TRACE(path.ToString());
      ASSERT_EQ(editor.Get(path), NaiveGet(&model, path));
      if (random.Below(3) == 0) {
        if (Children* parent = NaiveParent(&model, path, false)) {
          parent->erase(path.segments().back());
        }
        editor.Remove(path);
      } else if (random.Below(2) == 0) {
        const Tree value = random.Value(2);
        (*NaiveParent(&model, path, true))[path.segments().back()] = value;
        editor.Set(path, EncodeTree(value));
      }
      ASSERT_EQ(editor.Get(path), NaiveGet(&model, path));
      ASSERT_EQ(editor.Finish().encoded(), EncodeDocumentFields(model));
    }
    const FieldPath path = RandomPath(&random);
    const Fields finished = editor.Finish();
    const std::optional<ValueView> found = finished.Find(path);
    ASSERT_EQ(found ? std::optional(std::string(found->encoded())) : std::nullopt,
              NaiveGet(&model, path));
  }
}

TEST(FieldEditorTest, PutsMapsWhereNoneWere) {
  FieldEditor editor{Fields()};
  editor.Set(Path("a.b.c"), EncodeInteger(1));
  EXPECT_EQ(editor.Get(Path("a")), EncodeMap({{"b", EncodeMap({{"c", EncodeInteger(1)}})}}));
  editor.Set(Path("a.b.c.d"), EncodeInteger(2));
  EXPECT_EQ(editor.Get(Path("a.b")), EncodeMap({{"c", EncodeMap({{"d", EncodeInteger(2)}})}}));
}

TEST(FieldEditorTest, MapsThatBecomeEmptyStay) {
  FieldEditor editor{Fields()};
  editor.Set(Path("a.b"), EncodeInteger(1));
  editor.Remove(Path("a.b"));
  editor.Remove(Path("a.x.y"));
  editor.Remove(Path("zz"));
  EXPECT_EQ(editor.Get(Path("a")), EncodeMap({}));
}

TEST(FieldEditorTest, WhatIsTakenIsGone) {
  FieldEditor editor{Fields()};
  editor.Set(Path("a.b"), EncodeInteger(1));
  editor.Set(Path("a.c.d"), EncodeInteger(2));
  FieldEditor copy{editor.Finish()};  // With nothing decoded.
  EXPECT_EQ(copy.Take(Path("a.b.x")), std::nullopt);
  EXPECT_EQ(copy.Take(Path("x.y")), std::nullopt);
  EXPECT_EQ(copy.Take(Path("a.c.d")), EncodeInteger(2));
  EXPECT_EQ(copy.Take(Path("a.c.d")), std::nullopt);
  EXPECT_EQ(copy.Take(Path("a")), EncodeMap({{"b", EncodeInteger(1)}, {"c", EncodeMap({})}}));
  EXPECT_EQ(copy.Finish(), Fields());
}

TEST(FieldEditorTest, AVectorIsNoMap) {
  const std::string vector = EncodeMap(
      {{"__type__", EncodeString("__vector__")}, {"value", EncodeArray({EncodeDouble(1)})}});
  FieldEditor editor{Fields()};
  editor.Set(Path("v"), vector);
  EXPECT_EQ(editor.Get(Path("v.value")), std::nullopt);
  editor.Remove(Path("v.value"));
  EXPECT_EQ(editor.Get(Path("v")), vector);
  editor.Set(Path("v.x"), EncodeInteger(1));
  EXPECT_EQ(editor.Get(Path("v")), EncodeMap({{"x", EncodeInteger(1)}}));
}

class ProjectTest : public testing::Test {
 protected:
  // The example projected to `mask`.
  Fields Project(const std::vector<std::string>& mask) const {
    std::vector<FieldPath> paths;
    for (const std::string& path : mask) paths.push_back(Path(path));
    return fields_.Project(paths);
  }

  static Fields Made(const std::vector<std::pair<std::string, std::string>>& fields) {
    FieldEditor editor{Fields()};
    for (const auto& [path, value] : fields) editor.Set(Path(path), value);
    return editor.Finish();
  }

  const std::string one_ = EncodeInteger(1);
  const std::string vector_ = EncodeMap(
      {{"__type__", EncodeString("__vector__")}, {"value", EncodeArray({EncodeDouble(1)})}});
  const Fields fields_ = Made({{"b.c", one_}, {"b.d", EncodeMap({})}, {"s", one_}, {"v", vector_}});
};

TEST_F(ProjectTest, KeepsOnlyWhatTheMaskNames) {
  EXPECT_EQ(Project({}), Fields());
  EXPECT_EQ(Project({"s"}), Made({{"s", one_}}));
  EXPECT_EQ(Project({"b.c"}), Made({{"b.c", one_}}));
  EXPECT_EQ(Project({"b.d", "s"}), Made({{"b.d", EncodeMap({})}, {"s", one_}}));
  EXPECT_EQ(Project({"b.c", "b", "b.c"}), Made({{"b.c", one_}, {"b.d", EncodeMap({})}}));
  EXPECT_EQ(Project({"v"}), Made({{"v", vector_}}));
}

TEST_F(ProjectTest, PathsThatLeadNowhereLeaveNothing) {
  EXPECT_EQ(Project({"b.x", "b.d.x", "s.x", "v.value", "zz", "__name__"}), Fields());
}

}  // namespace
}  // namespace hearth::model
