// The keys under which documents are stored: the database's number (4 bytes, big-endian), then the
// encoded path. docs/formats/keys.md has examples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/names.h"

namespace hearth::model {

// Represents a database's name in keys.
enum class DatabaseNumber : uint32_t {};

std::string DatabaseKeyPrefix(DatabaseNumber database);
std::string DocumentKey(DatabaseNumber database, const DocumentPath& path);
// The key prefix of all documents directly in `collection`.
std::string CollectionKeyPrefix(DatabaseNumber database, const CollectionPath& collection);
// DataLoss if `document_key` is not a document's key.
Result<DocumentPath> DocumentPathOfKey(std::string_view document_key);

std::string EncodeUint32(uint32_t number);
std::string EncodeUint64(uint64_t number);
// DataLoss unless `bytes` has exactly the length of the number.
Result<uint32_t> DecodeUint32(std::string_view bytes);
Result<uint64_t> DecodeUint64(std::string_view bytes);

}  // namespace hearth::model
