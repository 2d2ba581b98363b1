#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/fields.h"
#include "model/names.h"
#include "model/timestamp.h"

namespace hearth::model {

// A document at rest, without its name.
//
//   record := create time (8 bytes), update time (8 bytes), fields
//
// Times are microseconds since the epoch, big-endian. The fields are Fields::encoded().
inline constexpr size_t kRecordBytesMin = 16;

std::string EncodeRecord(Timestamp create_time, Timestamp update_time, const Fields& fields);

// These read a record in place. They require at least kRecordBytesMin bytes.
Timestamp RecordCreateTime(std::string_view record);
Timestamp RecordUpdateTime(std::string_view record);
std::string_view RecordFields(std::string_view record);

// The document's size by Firestore's formula: name, fields and 32 bytes of overhead.
size_t DocumentSizeBytes(const DocumentPath& path, const Fields& fields);

// InvalidArgument, with Firestore's message, if the document as a whole exceeds a limit: its size,
// or the number of its index entries.
Status ValidateDocument(const DatabaseName& database, const DocumentPath& path,
                        const Fields& fields);

}  // namespace hearth::model
