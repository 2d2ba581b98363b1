#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/fields.h"
#include "model/names.h"
#include "model/timestamp.h"

namespace hearth::model {

// A document without its name, as it is stored.
//
//   record := create time (8 bytes), update time (8 bytes), fields
//
// Times are microseconds since the epoch, big-endian. The fields are Fields::encoded().
struct Document {
  Timestamp create_time;
  Timestamp update_time;
  Fields fields;

  std::string EncodeRecord() const;
  // DataLoss when `record` is shorter than its two times.
  static Result<Document> DecodeRecord(std::string_view record);
};

// A record read in place. Require a record that EncodeRecord made.
Timestamp RecordCreateTime(std::string_view record);
Timestamp RecordUpdateTime(std::string_view record);
std::string_view RecordFields(std::string_view record);

// The document's size by Firestore's formula: name, fields and 32 bytes.
size_t DocumentSizeBytes(const DatabaseName& database, const DocumentPath& path,
                         const Fields& fields);

// InvalidArgument, in Firestore's words, when the document is larger than kDocumentBytesMax.
Status ValidateDocumentSize(const DatabaseName& database, const DocumentPath& path,
                            const Fields& fields);

}  // namespace hearth::model
