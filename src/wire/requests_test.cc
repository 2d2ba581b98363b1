#include "wire/requests.h"

#include <gtest/gtest.h>

#include "model/limits.h"
#include "model/wire_format.h"
#include "request/testing/writes.h"

namespace hearth::wire {
namespace {

using model::EncodeInteger;
using model::Timestamp;
using model::TransformKind;
using request::Write;
using request::WriteKind;
using Mode = request::TransactionOptions::Mode;

constexpr char kDocuments[] = "projects/p1/databases/(default)/documents";
constexpr char kBadTime[] =
    "invalid timestamp, please check https://developers.google.com/protocol-buffers/docs/"
    "reference/java/com/google/protobuf/util/Timestamps.html#isValid-long-int- for the timestamp "
    "format.";

std::string Name(std::string_view path) {
  return std::string(kDocuments) + "/" + std::string(path);
}

proto::Write Update(std::string_view path) {
  proto::Write write;
  write.mutable_update()->set_name(Name(path));
  return write;
}

Result<Write> Read(proto::Write write) { return ReadWrite(NameDatabase(), &write); }

// A value nested in `depth` maps.
proto::Value Nested(size_t depth, proto::Value value) {
  for (; depth > 0; --depth) {
    proto::Value outer;
    (*outer.mutable_map_value()->mutable_fields())["m"] = std::move(value);
    value = std::move(outer);
  }
  return value;
}

proto::Value Integer(int64_t number) {
  proto::Value value;
  value.set_integer_value(number);
  return value;
}

// An unknown field, as a newer client may send it.
void AddUnknown(google::protobuf::Message* message) {
  message->GetReflection()->MutableUnknownFields(message)->AddVarint(999, 7);
}

TEST(ParseMessageTest, TakesWhatProtobufWrites) {
  proto::CommitRequest request;
  request.set_database("x");
  *request.add_writes() = Update("c/a");
  proto::CommitRequest parsed;
  EXPECT_EQ(ParseMessage(request.SerializeAsString(), &parsed), Status());
  EXPECT_EQ(parsed.DebugString(), request.DebugString());
  EXPECT_EQ(ParseMessage("", &parsed), Status());  // All defaults.
  EXPECT_EQ(parsed.database(), "");
}

TEST(ParseMessageTest, RefusesMalformedBytes) {
  const Status malformed = InvalidArgument(
      "the request is not a valid google.firestore.v1.GetDocumentRequest message: malformed "
      "protobuf, text that is not UTF-8, or values nested too deeply");
  proto::GetDocumentRequest request;
  request.set_name("abc");
  const std::string bytes = request.SerializeAsString();
  for (const std::string& bad :
       {bytes.substr(0, bytes.size() - 1), bytes + "\x0a", bytes + std::string(1, '\0'),
        std::string("\x0a\xff\xff\xff\xff\x0f"), std::string("\x0c"), std::string(11, '\xff'),
        std::string("\x0a\x01\xff"),             // Not UTF-8.
        std::string("\x0a\x03\xed\xa0\x80")}) {  // A surrogate.
    proto::GetDocumentRequest parsed;
    EXPECT_EQ(ParseMessage(bad, &parsed), malformed) << testing::PrintToString(bad);
  }
}

TEST(ParseMessageTest, DeepNestingGetsFirestoresAnswer) {
  proto::Document document;
  (*document.mutable_fields())["a"] = Nested(model::kValueDepthMax + 10, Integer(1));
  proto::Document parsed;
  ASSERT_EQ(ParseMessage(document.SerializeAsString(), &parsed), Status());
  EXPECT_EQ(ReadFields(&parsed).status(),
            InvalidArgument("Property a contains an invalid nested entity."));
}

TEST(ParseMessageTest, BottomlessNestingIsRefused) {
  // Built without libprotobuf, which would overflow the stack.
  std::string value = EncodeInteger(1);
  for (int depth = 0; depth < 20'000; ++depth) {
    std::string array;
    model::AppendBytes(model::WireTag(1, model::WireType::kBytes), value, &array);
    value.clear();
    model::AppendBytes(model::WireTag(9, model::WireType::kBytes), array, &value);
  }
  proto::Value parsed;
  EXPECT_EQ(ParseMessage(value, &parsed).code(), Code::kInvalidArgument);
}

TEST(ReadFieldsTest, KeepsFieldsOnly) {
  proto::Document document;
  document.set_name("whatever");
  document.mutable_create_time()->set_seconds(-1);
  document.mutable_update_time()->set_nanos(-1);
  for (const char* name : {"z", "a", "é", "m"}) (*document.mutable_fields())[name] = Integer(1);
  EXPECT_EQ(*ReadFields(&document), MakeFields({{"a", EncodeInteger(1)},
                                                {"m", EncodeInteger(1)},
                                                {"z", EncodeInteger(1)},
                                                {"é", EncodeInteger(1)}}));
}

TEST(ReadFieldsTest, IgnoresUnknownFields) {
  proto::Document document;
  AddUnknown(&document);
  proto::Value& value = (*document.mutable_fields())["a"];
  AddUnknown(&value);
  AddUnknown(value.mutable_array_value());
  proto::Value* item = value.mutable_array_value()->add_values();
  AddUnknown(item);
  AddUnknown(item->mutable_map_value());
  proto::Value& time = (*item->mutable_map_value()->mutable_fields())["t"];
  time.mutable_timestamp_value()->set_seconds(5);
  AddUnknown(time.mutable_timestamp_value());
  proto::Value& place = (*item->mutable_map_value()->mutable_fields())["p"];
  place.mutable_geo_point_value()->set_latitude(1);
  AddUnknown(place.mutable_geo_point_value());

  proto::Document parsed;
  ASSERT_EQ(ParseMessage(document.SerializeAsString(), &parsed), Status());
  const Result<model::Fields> fields = ReadFields(&parsed);
  ASSERT_TRUE(fields.ok()) << fields.status().ToString();
  EXPECT_EQ(*fields,
            MakeFields(
                {{"a", model::EncodeArray({model::EncodeMap(
                           {{"p", model::EncodeGeoPoint({1, 0})},
                            {"t", model::EncodeTimestamp(Timestamp::FromMicros(5'000'000))}})})}}));
}

TEST(ReadTimeTest, MicrosecondsWithinTheCalendar) {
  const auto read = [](int64_t seconds, int32_t nanos) {
    google::protobuf::Timestamp time;
    time.set_seconds(seconds);
    time.set_nanos(nanos);
    return ReadTime(time);
  };
  EXPECT_EQ(read(5, 7'000)->micros(), 5'000'007);
  EXPECT_EQ(read(-1, 999'999'000)->micros(), -1);
  EXPECT_EQ(read(253'402'300'799, 999'999'000).status(), Status());
  EXPECT_EQ(read(-62'135'596'800, 0).status(), Status());
  for (const auto& [seconds, nanos] : std::vector<std::pair<int64_t, int32_t>>{
           {253'402'300'800, 0}, {-62'135'596'801, 0}, {0, -1}, {0, 1'000'000'000}}) {
    EXPECT_EQ(read(seconds, nanos).status(), InvalidArgument(kBadTime));
  }
  for (const int32_t nanos : {1, 999, 1'001}) {
    EXPECT_EQ(read(5, nanos).status(),
              InvalidArgument("timestamp cannot have more than microseconds precision"));
  }
}

TEST(ReadPreconditionTest, ExistsOrUpdateTimeOrNothing) {
  proto::Precondition precondition;
  EXPECT_FALSE(ReadPrecondition(precondition)->exists.has_value());
  EXPECT_FALSE(ReadPrecondition(precondition)->update_time.has_value());
  precondition.set_exists(false);
  EXPECT_EQ(ReadPrecondition(precondition)->exists, false);
  precondition.set_exists(true);
  EXPECT_EQ(ReadPrecondition(precondition)->exists, true);
  precondition.mutable_update_time();  // The epoch.
  EXPECT_EQ(ReadPrecondition(precondition)->update_time, Timestamp());
  EXPECT_FALSE(ReadPrecondition(precondition)->exists.has_value());
  precondition.mutable_update_time()->set_nanos(1);
  EXPECT_EQ(ReadPrecondition(precondition).status().code(), Code::kInvalidArgument);
}

TEST(ReadTransactionOptionsTest, Modes) {
  proto::TransactionOptions options;
  for (const Mode mode : {Mode::kReadWrite, Mode::kReadOnly}) {
    EXPECT_EQ(ReadTransactionOptions(options, mode)->mode, mode);
  }
  options.mutable_read_write()->set_retry_transaction("id");
  EXPECT_EQ(ReadTransactionOptions(options, Mode::kReadOnly)->mode, Mode::kReadWrite);
  EXPECT_EQ(ReadTransactionOptions(options, Mode::kReadOnly)->retry_transaction, "id");
  options.mutable_read_only();
  EXPECT_EQ(ReadTransactionOptions(options, Mode::kReadWrite)->mode, Mode::kReadOnly);
  EXPECT_EQ(ReadTransactionOptions(options, Mode::kReadWrite)->read_time, std::nullopt);
  options.mutable_read_only()->mutable_read_time()->set_seconds(5);
  EXPECT_EQ(ReadTransactionOptions(options, Mode::kReadWrite)->read_time,
            Timestamp::FromMicros(5'000'000));
  options.mutable_read_only()->mutable_read_time()->set_nanos(1);
  EXPECT_EQ(ReadTransactionOptions(options, Mode::kReadWrite).status().code(),
            Code::kInvalidArgument);
}

TEST(ReadConsistencyTest, TransactionOrTimeOrNow) {
  proto::GetDocumentRequest request;
  EXPECT_TRUE(std::holds_alternative<request::Now>(*ReadConsistency(request)));
  request.mutable_read_time()->set_seconds(5);
  EXPECT_EQ(std::get<Timestamp>(*ReadConsistency(request)), Timestamp::FromMicros(5'000'000));
  request.mutable_read_time()->set_nanos(1);
  EXPECT_EQ(ReadConsistency(request).status().code(), Code::kInvalidArgument);
  request.set_transaction("");  // Set, but empty: the engine will reject it.
  EXPECT_EQ(std::get<request::InTransaction>(*ReadConsistency(request)).id, "");
}

TEST(ReadMaskTest, PathsOrAll) {
  proto::GetDocumentRequest request;
  EXPECT_EQ(*ReadMaskOf(request), std::nullopt);
  request.mutable_mask();
  EXPECT_EQ((*ReadMaskOf(request))->size(), 0u);
  request.mutable_mask()->add_field_paths("a.`b c`");
  EXPECT_EQ((**ReadMaskOf(request))[0].segments(), (std::vector<std::string>{"a", "b c"}));
  request.mutable_mask()->add_field_paths("a..b");
  EXPECT_EQ(ReadMaskOf(request).status().code(), Code::kInvalidArgument);
}

TEST(ReadWriteTest, Updates) {
  proto::Write write = Update("c/a");
  (*write.mutable_update()->mutable_fields())["n"] = Integer(1);
  Result<Write> read = Read(write);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->path.path(), "c/a");
  EXPECT_EQ(read->kind, WriteKind::kUpdate);
  EXPECT_EQ(read->fields, NumberFields(1));
  EXPECT_EQ(read->mask, std::nullopt);
  EXPECT_TRUE(read->transforms.empty());
  EXPECT_FALSE(read->precondition.exists || read->precondition.update_time);

  write.mutable_update_mask();
  EXPECT_EQ(Read(write)->mask->size(), 0u);
  write.mutable_update_mask()->add_field_paths("n");
  write.mutable_current_document()->set_exists(true);
  read = Read(write);
  EXPECT_EQ(read->mask->at(0).ToString(), "n");
  EXPECT_EQ(read->precondition.exists, true);
}

TEST(ReadWriteTest, Deletes) {
  proto::Write write;
  write.set_delete_(Name("c/a"));
  write.mutable_current_document()->set_exists(true);
  const Result<Write> read = Read(write);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->kind, WriteKind::kDelete);
  EXPECT_EQ(read->path.path(), "c/a");
  EXPECT_EQ(read->precondition.exists, true);
}

// The transforms of one update.
class ReadTransformsTest : public testing::Test {
 protected:
  proto::DocumentTransform::FieldTransform* Add(const std::string& path) {
    proto::DocumentTransform::FieldTransform* transform = write_.add_update_transforms();
    transform->set_field_path(path);
    return transform;
  }
  void AddIncrement(const std::string& path) { *Add(path)->mutable_increment() = Integer(1); }

  proto::Write write_ = Update("c/a");
};

TEST_F(ReadTransformsTest, EveryKind) {
  using Proto = proto::DocumentTransform::FieldTransform;
  Add("t")->set_set_to_server_value(Proto::REQUEST_TIME);
  *Add("i")->mutable_increment() = Integer(1);
  *Add("x")->mutable_maximum() = Integer(2);
  Add("m")->mutable_minimum()->set_double_value(0.5);
  *Add("u")->mutable_append_missing_elements()->add_values() = Integer(4);
  Add("r")->mutable_remove_all_from_array();
  const Result<Write> read = Read(write_);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const std::vector<std::tuple<std::string, TransformKind, std::string>> expected = {
      {"t", TransformKind::kServerTime, ""},
      {"i", TransformKind::kIncrement, EncodeInteger(1)},
      {"x", TransformKind::kMaximum, EncodeInteger(2)},
      {"m", TransformKind::kMinimum, model::EncodeDouble(0.5)},
      {"u", TransformKind::kArrayUnion, model::EncodeArray({EncodeInteger(4)})},
      {"r", TransformKind::kArrayRemove, model::EncodeArray({})}};
  ASSERT_EQ(read->transforms.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(read->transforms[i].path.ToString(), std::get<0>(expected[i]));
    EXPECT_EQ(read->transforms[i].kind, std::get<1>(expected[i]));
    EXPECT_EQ(read->transforms[i].operand, std::get<2>(expected[i]));
  }
}

TEST_F(ReadTransformsTest, AWriteOfTransformsOnly) {
  proto::Write write;
  write.mutable_transform()->set_document(Name("c/a"));
  auto* transform = write.mutable_transform()->add_field_transforms();
  transform->set_field_path("n");
  *transform->mutable_increment() = Integer(1);
  const Result<Write> read = Read(write);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->kind, WriteKind::kUpdate);
  EXPECT_EQ(read->mask->size(), 0u);  // Nothing else changes.
  EXPECT_EQ(read->transforms.size(), 1u);
}

TEST_F(ReadTransformsTest, OperandsIgnoreUnknownFields) {
  AddIncrement("n");
  AddUnknown(write_.mutable_update_transforms(0)->mutable_increment());
  auto* items = Add("list")->mutable_append_missing_elements();
  AddUnknown(items);
  *items->add_values() = Integer(1);
  AddUnknown(items->mutable_values(0));
  const Result<Write> read = Read(write_);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->transforms[0].operand, EncodeInteger(1));
  EXPECT_EQ(read->transforms[1].operand, model::EncodeArray({EncodeInteger(1)}));
}

TEST(ReadWritesTest, AllOrTheFirstFault) {
  proto::CommitRequest request;
  EXPECT_TRUE(ReadWrites(NameDatabase(), request.mutable_writes())->empty());
  *request.add_writes() = Update("c/a");
  *request.add_writes() = Update("c/b");
  const Result<std::vector<Write>> writes = ReadWrites(NameDatabase(), request.mutable_writes());
  ASSERT_TRUE(writes.ok());
  EXPECT_EQ((*writes)[1].path.path(), "c/b");
  request.clear_writes();
  *request.add_writes() = Update("c/a");
  request.add_writes();
  request.add_writes()->mutable_update()->set_name("nonsense");
  EXPECT_EQ(ReadWrites(NameDatabase(), request.mutable_writes()).status(),
            InvalidArgument("empty write operation"));
}

}  // namespace
}  // namespace hearth::wire
