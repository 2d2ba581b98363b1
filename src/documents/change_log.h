#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hearth::documents {

// The value of a log key: the keys of the documents that one commit changed, without the database
// number that the log key itself has, each after its length as a four-byte number.
std::string EncodeLogEntry(const std::vector<std::string_view>& document_keys);

// The keys again, as they stand in the log. DataLoss when the entry does not decode.
Result<std::vector<std::string>> DecodeLogEntry(std::string_view entry);

}  // namespace hearth::documents
