#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hearth::documents {

// The value of a log key: the keys of the documents that one commit changed, each preceded by its
// length as a four-byte number. The keys lack the database number, which is in the log key.
std::string EncodeLogEntry(const std::vector<std::string_view>& document_keys);

// The keys as they are in the log. DataLoss if the entry cannot be decoded.
Result<std::vector<std::string>> DecodeLogEntry(std::string_view entry);

}  // namespace hearth::documents
