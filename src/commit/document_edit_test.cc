#include "commit/document_edit.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/limits.h"
#include "request/testing/writes.h"

namespace hearth::commit {
namespace {

using model::EncodeInteger;
using model::Timestamp;

constexpr size_t kLarge = 1'000'000;
const Timestamp kNow = Timestamp::FromMicros(5);

class DocumentEditTest : public testing::Test {
 protected:
  static model::Record Stored(const model::Fields& fields) {
    const Timestamp created = Timestamp::FromMicros(1);
    return std::make_shared<const std::string>(model::EncodeRecord(created, created, fields));
  }
  Status Apply(DocumentEdit& edit, const request::Write& write) {
    return edit.Apply(write, kNow, &results_);
  }
  static model::Fields FieldsAfter(const DocumentEdit& edit) {
    return model::Fields::FromTrusted(std::string(model::RecordFields(*edit.After(kNow))));
  }

  const model::DatabaseName database_ = NameDatabase();
  const model::DocumentPath path_ = Path("c/a");
  const model::Fields large_ = MakeFields(
      {{"n", EncodeInteger(0)}, {"text", model::EncodeString(std::string(kLarge, 'x'))}});
  std::vector<std::string> results_;
};

TEST_F(DocumentEditTest, ManyWritesCostWhatTheyChange) {
  DocumentEdit edit(database_, path_, Stored(large_));
  for (int64_t n = 1; n <= 10'000; ++n) {
    ASSERT_EQ(Apply(edit, Merge("c/a", NumberFields(n), {"n"})), Status());
  }
  ASSERT_EQ(edit.Finish(), Status());
  EXPECT_EQ(FieldsAfter(edit).Find(FieldAt("n"))->integer(), 10'000);
  EXPECT_LT(edit.worked_bytes(), 3 * kLarge);
}

TEST_F(DocumentEditTest, EveryTransformCostsItsValue) {
  std::vector<std::string> items;
  for (int64_t i = 0; i < 1'000; ++i) items.push_back(EncodeInteger(i));
  const std::string array = model::EncodeArray(items);
  DocumentEdit edit(database_, path_, Stored(MakeFields({{"a", array}})));
  for (int64_t i = 0; i < 100; ++i) {
    const std::string item = model::EncodeArray({EncodeInteger(1'000 + i)});
    ASSERT_EQ(
        Apply(edit, Transform("c/a", {{FieldAt("a"), model::TransformKind::kArrayUnion, item}})),
        Status());
  }
  EXPECT_GE(edit.worked_bytes(), 100 * array.size());
}

TEST_F(DocumentEditTest, ALongMaskSelectsTheSameAsAShortOne) {
  FieldMap inner;
  for (int i = 0; i < 50; ++i) inner["k" + std::to_string(i)] = EncodeInteger(i);
  const model::Fields update = MakeFields({{"all", model::EncodeMap({{"x", EncodeInteger(1)}})},
                                           {"m", model::EncodeMap({inner.begin(), inner.end()})},
                                           {"other", EncodeInteger(9)}});
  const model::Fields before =
      MakeFields({{"all", EncodeInteger(0)},
                  {"gone", EncodeInteger(0)},
                  {"m", model::EncodeMap({{"k1", EncodeInteger(-1)}, {"old", EncodeInteger(7)}})}});
  std::vector<std::string> paths = {"all", "all.x", "all", "gone", "gone.too", "m.k1", "__name__"};
  for (int i = 10; i < 30; ++i) paths.push_back("m.k" + std::to_string(i));

  const auto merged = [&](const std::vector<std::vector<std::string>>& masks) {
    DocumentEdit edit(database_, path_, Stored(before));
    for (const auto& mask : masks) {
      request::Write write = Merge("c/a", update, {});
      for (const std::string& path : mask) write.mask->push_back(FieldAt(path));
      EXPECT_EQ(Apply(edit, std::move(write)), Status());
    }
    EXPECT_EQ(edit.Finish(), Status());
    return FieldsAfter(edit);
  };
  std::vector<std::vector<std::string>> one_by_one;
  for (const std::string& path : paths) one_by_one.push_back({path});
  const model::Fields result = merged({paths});
  EXPECT_EQ(result, merged(one_by_one));
  EXPECT_EQ(result.Find(FieldAt("m.k1"))->integer(), 1);
  EXPECT_EQ(result.Find(FieldAt("m.old"))->integer(), 7);
  EXPECT_FALSE(result.Find(FieldAt("gone")).has_value());
  EXPECT_FALSE(result.Find(FieldAt("m.k2")).has_value());
}

TEST_F(DocumentEditTest, TheSumOfManyWritesIsCheckedBeforeTheLast) {
  DocumentEdit edit(database_, path_, Stored(large_));
  Status status;
  size_t writes = 0;
  for (; status.ok() && writes < 20; ++writes) {
    const std::string field = "f" + std::to_string(writes);
    const std::string text = model::EncodeString(std::string(kLarge / 2, 'y'));
    status = Apply(edit, Merge("c/a", MakeFields({{field, text}}), {field}));
  }
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_LE(writes, 3u);
}

TEST_F(DocumentEditTest, ADocumentAtTheLimitIsChecked) {
  const auto with_text = [](size_t bytes) {
    return MakeFields({{"t", model::EncodeString(std::string(bytes, 'x'))}});
  };
  // The name "c/a" counts 20 bytes, the field 3, and the document 32.
  constexpr size_t kTextMax = model::kFieldValueBytesMax - 1;
  for (const size_t extra : {size_t{0}, size_t{2'000}}) {
    DocumentEdit edit(database_, path_, Stored(with_text(kTextMax)));
    const model::Fields more = MakeFields({{"u", model::EncodeString(std::string(extra, 'x'))}});
    ASSERT_EQ(Apply(edit, Merge("c/a", more, {"u"})), Status());
    EXPECT_EQ(edit.Finish().code(), extra == 0 ? Code::kOk : Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace hearth::commit
