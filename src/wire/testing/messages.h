// For tests: messages from text and from bytes, and their comparison.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace hearth::wire {

// The times of documents.
inline constexpr int64_t kCreated = 1'700'000'000'000'000;  // Whole seconds.
inline constexpr int64_t kUpdated = 1'700'000'001'234'567;

// Parses a message in protobuf's text format.
template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// Parses our bytes with libprotobuf.
template <typename Message>
Message FromBytes(const std::string& bytes) {
  Message message;
  EXPECT_TRUE(message.ParseFromString(bytes)) << message.GetTypeName();
  EXPECT_TRUE(message.GetReflection()->GetUnknownFields(message).empty());
  return message;
}

// Equal messages have equal bytes once their maps are sorted.
inline std::string SortedBytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  EXPECT_TRUE(message.SerializeToCodedStream(&coded));
  coded.Trim();
  return bytes;
}

inline void ExpectEqual(const google::protobuf::Message& actual,
                        const google::protobuf::Message& expected) {
  if (SortedBytes(actual) == SortedBytes(expected)) return;
  ADD_FAILURE() << actual.DebugString() << "instead of\n" << expected.DebugString();
}

}  // namespace hearth::wire
