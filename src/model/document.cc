#include "model/document.h"

#include <cstdint>

#include "base/check.h"
#include "model/index_entries.h"
#include "model/limits.h"
#include "model/value_size.h"

namespace hearth::model {
namespace {

constexpr size_t kTimeBytes = 8;
static_assert(kRecordBytesMin == 2 * kTimeBytes);
constexpr size_t kDocumentOverheadBytes = 32;  // Part of Firestore's formula, not of the record.

void AppendTime(Timestamp time, std::string* out) {
  const auto micros = static_cast<uint64_t>(time.micros());
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(micros >> shift));
}

Timestamp ReadTime(std::string_view record, size_t offset) {
  CHECK(record.size() >= kRecordBytesMin);
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

std::string EncodeRecord(Timestamp create_time, Timestamp update_time, const Fields& fields) {
  std::string record;
  record.reserve(kRecordBytesMin + fields.encoded().size());
  AppendTime(create_time, &record);
  AppendTime(update_time, &record);
  return record.append(fields.encoded());
}

Timestamp RecordCreateTime(std::string_view record) { return ReadTime(record, 0); }

Timestamp RecordUpdateTime(std::string_view record) { return ReadTime(record, kTimeBytes); }

std::string_view RecordFields(std::string_view record) {
  CHECK(record.size() >= kRecordBytesMin);
  return record.substr(kRecordBytesMin);
}

size_t DocumentSizeBytes(const DocumentPath& path, const Fields& fields) {
  return PathSizeBytes(path.path()) + fields.SizeBytes() + kDocumentOverheadBytes;
}

Status ValidateDocument(const DatabaseName& database, const DocumentPath& path,
                        const Fields& fields) {
  // The size formula counts at most four bytes per stored byte: a geo point at 0, 0 in an array
  // takes 4 bytes and counts as 16. A value with an index entry takes at least four bytes. Nearly
  // every document is small enough to pass this check.
  constexpr size_t kCountedPerStoredByteMax = 4;
  const size_t counted_max =
      (kDocumentNameBytesMax + fields.encoded().size()) * kCountedPerStoredByteMax;
  if (counted_max <= kDocumentBytesMax &&
      fields.encoded().size() <= kIndexEntriesPerDocumentMax * 4) {
    return Status();
  }

  const size_t size = DocumentSizeBytes(path, fields);
  if (size > kDocumentBytesMax) {
    return InvalidArgument("Document '" + DocumentName{database, path}.ToString() +
                           "' cannot be written because its size (" + WithSeparators(size) +
                           " bytes) exceeds the maximum allowed size of " +
                           WithSeparators(kDocumentBytesMax) + " bytes.");
  }
  const size_t index_entries = CountIndexEntries(fields);
  if (index_entries > kIndexEntriesPerDocumentMax) {
    return InvalidArgument("too many index entries for entity /" + path.path() + ": " +
                           WithSeparators(index_entries) + ", at most " +
                           WithSeparators(kIndexEntriesPerDocumentMax) + " are allowed");
  }
  return Status();
}

}  // namespace hearth::model
