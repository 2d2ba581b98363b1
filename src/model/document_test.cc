#include "model/document.h"

#include <gtest/gtest.h>

#include "model/index_entries.h"
#include "model/value.h"

namespace hearth::model {
namespace {

using namespace std::string_literals;

Fields FieldsOf(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string encoded;
  for (const auto& [name, value] : fields) {
    AppendField(MapView::Tag::kDocument, name, value, &encoded);
  }
  return *Fields::Validate(encoded);
}

TEST(DocumentTest, RecordsRoundTrip) {
  const Fields fields = FieldsOf({{"a", EncodeInteger(1)}});
  const std::string record =
      EncodeRecord(Timestamp::FromMicros(1), Timestamp::FromMicros(-2), fields);
  EXPECT_EQ(record, "\0\0\0\0\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xfe"s + fields.encoded());
  EXPECT_EQ(RecordCreateTime(record), Timestamp::FromMicros(1));
  EXPECT_EQ(RecordUpdateTime(record), Timestamp::FromMicros(-2));
  EXPECT_EQ(RecordFields(record), fields.encoded());
}

class DocumentSizeTest : public testing::Test {
 protected:
  // The size of a field "z" with this value, including its name.
  static size_t SizeOfField(const std::string& value) {
    return FieldsOf({{"z", value}}).SizeBytes();
  }

  const DatabaseName database_ = *DatabaseName::Parse("projects/p1/databases/(default)");
  const DocumentPath path_ = *DocumentPath::Parse("s/d");
};

// Each number was measured with the official emulator.
TEST_F(DocumentSizeTest, FollowsFirestoresFormula) {
  const std::string root = "projects/p1/databases/(default)/documents/";
  EXPECT_EQ(SizeOfField(EncodeNull()), 3u);
  EXPECT_EQ(SizeOfField(EncodeBoolean(true)), 3u);
  EXPECT_EQ(SizeOfField(EncodeInteger(1)), 10u);
  EXPECT_EQ(SizeOfField(EncodeDouble(1.5)), 10u);
  EXPECT_EQ(SizeOfField(EncodeTimestamp(Timestamp())), 10u);
  EXPECT_EQ(SizeOfField(EncodeString("abc")), 6u);
  EXPECT_EQ(SizeOfField(EncodeString("")), 3u);
  EXPECT_EQ(SizeOfField(EncodeString("é")), 5u);
  EXPECT_EQ(SizeOfField(EncodeBytes("12345")), 7u);
  EXPECT_EQ(SizeOfField(EncodeBytes("")), 2u);
  EXPECT_EQ(SizeOfField(EncodeReference(root + "c/d")), 22u);
  EXPECT_EQ(SizeOfField(EncodeReference("projects/documents/databases/x/documents/c/d")), 22u);
  EXPECT_EQ(SizeOfField(EncodeGeoPoint({1, 1})), 18u);
  EXPECT_EQ(SizeOfField(EncodeArray({})), 3u);
  EXPECT_EQ(SizeOfField(EncodeArray({EncodeInteger(1), EncodeInteger(2)})), 18u);
  EXPECT_EQ(SizeOfField(EncodeMap({})), 3u);
  EXPECT_EQ(SizeOfField(EncodeMap({{"k", EncodeInteger(1)}})), 12u);
  EXPECT_EQ(SizeOfField(EncodeMap({{"k", EncodeMap({{"l", EncodeInteger(1)}})}})), 14u);
  EXPECT_EQ(SizeOfField(EncodeArray({EncodeMap({{"k", EncodeInteger(1)}})})), 12u);
  EXPECT_EQ(SizeOfField(EncodeMap(
                {{"__type__", EncodeString("__vector__")},
                 {"value", EncodeArray({EncodeDouble(1), EncodeDouble(2), EncodeDouble(3)})}})),
            26u);

  EXPECT_EQ(DocumentSizeBytes(path_, Fields()), 16u + 2 + 2 + 32);
  EXPECT_EQ(DocumentSizeBytes(*DocumentPath::Parse("c/dd/e/f"), Fields()),
            16u + 2 + 3 + 2 + 2 + 32);
}

TEST_F(DocumentSizeTest, IsLimitedTo1MiB) {
  // The document's name and the field names take 58 bytes.
  const auto fields_of = [](size_t text_bytes) {
    return FieldsOf({{"a", EncodeString(std::string(600'000, 'x'))},
                     {"b", EncodeString(std::string(text_bytes - 600'000, 'x'))}});
  };
  const Fields largest = fields_of(1'048'576 - 58);
  EXPECT_EQ(DocumentSizeBytes(path_, largest), 1'048'576u);
  EXPECT_TRUE(ValidateDocument(database_, path_, largest).ok());
  EXPECT_EQ(ValidateDocument(database_, path_, fields_of(1'048'577 - 58)),
            InvalidArgument("Document 'projects/p1/databases/(default)/documents/s/d' cannot be "
                            "written because its size (1,048,577 bytes) exceeds the maximum "
                            "allowed size of 1,048,576 bytes."));
}

// `fields` fields; the first is an array of `elements` nulls.
Fields ManyFields(size_t fields, size_t elements) {
  std::vector<std::pair<std::string, std::string>> all;
  all.emplace_back("a", EncodeArray(std::vector<std::string>(elements, EncodeNull())));
  for (size_t i = 1; i < fields; ++i) {
    all.emplace_back("f" + std::to_string(100'000 + i), EncodeNull());
  }
  return FieldsOf(all);
}

TEST(ValidateDocumentTest, CountsIndexEntries) {
  const DatabaseName database = *DatabaseName::Parse("projects/p/databases/d");
  const DocumentPath path = *DocumentPath::Parse("c/d");
  EXPECT_EQ(CountIndexEntries(ManyFields(3, 5)), 3 * 2 + 5);
  EXPECT_EQ(CountIndexEntries(FieldsOf({{"m", EncodeMap({{"x", EncodeNull()}})}})), 4u);

  EXPECT_TRUE(ValidateDocument(database, path, ManyFields(20'000, 0)).ok());
  EXPECT_EQ(ValidateDocument(database, path, ManyFields(20'000, 1)),
            InvalidArgument("too many index entries for entity /c/d: 40,001, at most 40,000 are "
                            "allowed"));
}

}  // namespace
}  // namespace hearth::model
