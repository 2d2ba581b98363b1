#include "load/listen_answers.h"

#include <algorithm>
#include <charconv>

#include "model/wire_format.h"

namespace hearth::bench {
namespace {

using model::WireReader;
using model::WireTag;
using model::WireType;

struct Field {
  uint32_t number = 0;
  uint64_t varint = 0;     // For varint and fixed64 fields.
  std::string_view bytes;  // For length-delimited fields.
};

// False at the end of the bytes, or if they do not hold a field.
bool NextField(WireReader& reader, Field* field) {
  uint64_t tag = 0;
  if (!reader.Varint(&tag)) return false;
  *field = {.number = static_cast<uint32_t>(tag >> 3), .bytes = {}};
  switch (static_cast<WireType>(tag & 7)) {
    case WireType::kVarint:
      return reader.Varint(&field->varint);
    case WireType::kFixed64:
      return reader.Fixed64(&field->varint);
    case WireType::kBytes:
      return reader.Bytes(&field->bytes);
  }
  return false;
}

// Calls `visit` with every field; false if the bytes are not a valid message.
template <typename Visit>
bool ForEachField(std::string_view message, const Visit& visit) {
  WireReader reader(message);
  Field field;
  while (!reader.AtEnd()) {
    if (!NextField(reader, &field)) return false;
    visit(field);
  }
  return true;
}

Nanos ReadTime(std::string_view message) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  int64_t nanos = 0;
  ForEachField(message, [&](const Field& field) {
    const auto number = static_cast<int64_t>(field.varint);
    nanos += field.number == 1 ? number * kNanosPerSecond : number;
  });
  return Nanos{nanos};
}

bool ReadDocument(std::string_view message, DocumentAnswer* document) {
  return ForEachField(message, [&](const Field& field) {
    if (field.number == 1) document->name = field.bytes;
    if (field.number == 4) document->update_time = ReadTime(field.bytes);
  });
}

bool ReadTargetChange(std::string_view message, ListenAnswer* answer) {
  answer->change = ListenAnswer::Change::kNone;
  return ForEachField(message, [&](const Field& field) {
    if (field.number == 1) answer->change = static_cast<ListenAnswer::Change>(field.varint);
    if (field.number == 2 && field.bytes.empty()) ++answer->targets;
    // Packed: the last byte of each number is below 128.
    if (field.number == 2) {
      answer->targets += static_cast<size_t>(
          std::ranges::count_if(field.bytes, [](char each) { return (each & 0x80) == 0; }));
    }
    if (field.number == 6) answer->read_time = ReadTime(field.bytes);
  });
}

bool ReadDocumentChange(std::string_view message, ListenAnswer* answer) {
  bool is_document = true;
  answer->document.emplace();
  const bool is_message = ForEachField(message, [&](const Field& field) {
    if (field.number == 1) is_document = ReadDocument(field.bytes, &*answer->document);
  });
  return is_message && is_document;
}

}  // namespace

std::optional<size_t> FrameSplitter::FrameBytes(std::string_view bytes) {
  if (bytes.size() < kHeadBytes) return std::nullopt;
  size_t size = 0;
  for (size_t i = 1; i < kHeadBytes; ++i) size = size << 8 | static_cast<uint8_t>(bytes[i]);
  if (bytes.size() - kHeadBytes < size) return std::nullopt;
  return size + kHeadBytes;
}

std::optional<ListenAnswer> ReadListenAnswer(std::string_view message) {
  ListenAnswer answer;
  bool is_right = true;
  const bool is_message = ForEachField(message, [&](const Field& field) {
    if (field.number == 2) is_right = ReadTargetChange(field.bytes, &answer);
    if (field.number == 3) is_right = ReadDocumentChange(field.bytes, &answer);
  });
  if (!is_message || !is_right) return std::nullopt;
  return answer;
}

std::optional<std::optional<DocumentAnswer>> ReadQueryAnswer(std::string_view message) {
  std::optional<DocumentAnswer> document;
  bool is_right = true;
  const bool is_message = ForEachField(message, [&](const Field& field) {
    if (field.number == 1) is_right = ReadDocument(field.bytes, &document.emplace());
  });
  if (!is_message || !is_right) return std::nullopt;
  return document;
}

std::optional<Nanos> ReadCommitAnswer(std::string_view message) {
  std::optional<Nanos> time;
  const bool is_message = ForEachField(message, [&](const Field& field) {
    if (field.number == 2) time = ReadTime(field.bytes);
  });
  return is_message ? time : std::nullopt;
}

bool DocumentCensus::Add(std::string_view name) {
  if (!name.starts_with(prefix_)) return false;
  size_t number = 0;
  const char* const end = name.data() + name.size();
  if (std::from_chars(name.data() + prefix_.size(), end, number).ptr != end) return false;
  if (number >= seen_.size()) seen_.resize(number + 1);
  if (seen_[number]) return false;
  seen_[number] = true;
  ++count_;
  return true;
}

}  // namespace hearth::bench
