#include "model/document.h"

#include <cstdint>

#include "base/check.h"
#include "model/limits.h"
#include "model/value_size.h"

namespace hearth::model {
namespace {

constexpr size_t kTimeBytes = 8;
constexpr size_t kHeaderBytes = 2 * kTimeBytes;
constexpr size_t kDocumentOverheadBytes = 32;  // Of Firestore's formula, not of the record.

void AppendTime(Timestamp time, std::string* out) {
  const auto micros = static_cast<uint64_t>(time.micros());
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(micros >> shift));
}

Timestamp ReadTime(std::string_view record, size_t offset) {
  CHECK(record.size() >= kHeaderBytes);
  uint64_t micros = 0;
  for (size_t i = 0; i < kTimeBytes; ++i) {
    micros = micros << 8 | static_cast<uint8_t>(record[offset + i]);
  }
  return Timestamp::FromMicros(static_cast<int64_t>(micros));
}

// "1,048,577"
std::string WithSeparators(size_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

}  // namespace

std::string Document::EncodeRecord() const {
  std::string record;
  record.reserve(kHeaderBytes + fields.encoded().size());
  AppendTime(create_time, &record);
  AppendTime(update_time, &record);
  return record.append(fields.encoded());
}

Result<Document> Document::DecodeRecord(std::string_view record) {
  if (record.size() < kHeaderBytes) {
    return Status(Code::kDataLoss, "a document's record is shorter than its times");
  }
  return Document{RecordCreateTime(record), RecordUpdateTime(record),
                  Fields::FromTrusted(std::string(RecordFields(record)))};
}

Timestamp RecordCreateTime(std::string_view record) { return ReadTime(record, 0); }

Timestamp RecordUpdateTime(std::string_view record) { return ReadTime(record, kTimeBytes); }

std::string_view RecordFields(std::string_view record) {
  CHECK(record.size() >= kHeaderBytes);
  return record.substr(kHeaderBytes);
}

size_t DocumentSizeBytes(const DatabaseName& /*database*/, const DocumentPath& path,
                         const Fields& fields) {
  return PathSizeBytes(path.path()) + fields.SizeBytes() + kDocumentOverheadBytes;
}

Status ValidateDocumentSize(const DatabaseName& database, const DocumentPath& path,
                            const Fields& fields) {
  const size_t size = DocumentSizeBytes(database, path, fields);
  if (size <= kDocumentBytesMax) return Status();
  return InvalidArgument("Document '" + DocumentName{database, path}.ToString() +
                         "' cannot be written because its size (" + WithSeparators(size) +
                         " bytes) exceeds the maximum allowed size of " +
                         WithSeparators(kDocumentBytesMax) + " bytes.");
}

}  // namespace hearth::model
