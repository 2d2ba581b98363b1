#include "model/document_key.h"

#include "model/path_encoding.h"

namespace hearth::model {
namespace {

template <typename Number>
void AppendBigEndian(Number number, std::string* out) {
  for (int shift = (static_cast<int>(sizeof(Number)) - 1) * 8; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(number >> shift));
  }
}

template <typename Number>
Result<Number> DecodeBigEndian(std::string_view bytes) {
  if (bytes.size() != sizeof(Number)) {
    return Status(Code::kDataLoss, "a stored number has " + std::to_string(bytes.size()) +
                                       " bytes instead of " + std::to_string(sizeof(Number)));
  }
  Number number = 0;
  for (const char byte : bytes) {
    number = static_cast<Number>((number << 8) | static_cast<unsigned char>(byte));
  }
  return number;
}

}  // namespace

std::string EncodeUint32(uint32_t number) {
  std::string bytes;
  AppendBigEndian(number, &bytes);
  return bytes;
}

std::string EncodeUint64(uint64_t number) {
  std::string bytes;
  AppendBigEndian(number, &bytes);
  return bytes;
}

Result<uint32_t> DecodeUint32(std::string_view bytes) { return DecodeBigEndian<uint32_t>(bytes); }
Result<uint64_t> DecodeUint64(std::string_view bytes) { return DecodeBigEndian<uint64_t>(bytes); }

std::string DatabaseKeyPrefix(DatabaseNumber database) {
  return EncodeUint32(static_cast<uint32_t>(database));
}

std::string DocumentKey(DatabaseNumber database, const DocumentPath& path) {
  std::string key = DatabaseKeyPrefix(database);
  AppendDocumentPath(path, &key);
  return key;
}

std::string CollectionKeyPrefix(DatabaseNumber database, const CollectionPath& collection) {
  return DatabaseKeyPrefix(database) + EncodeCollectionPrefix(collection);
}

Result<DocumentPath> DocumentPathOfKey(std::string_view document_key) {
  if (document_key.size() < sizeof(DatabaseNumber)) {
    return Status(Code::kDataLoss, "a document's key is too short");
  }
  return DecodeDocumentPath(document_key.substr(sizeof(DatabaseNumber)));
}

}  // namespace hearth::model
