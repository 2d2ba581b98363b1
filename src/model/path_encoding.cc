#include "model/path_encoding.h"

#include <cstdint>
#include <optional>

#include "base/status_macros.h"
#include "model/numeric_id.h"

namespace hearth::model {
namespace {

// The byte that follows 00 in a key.
constexpr char kTextEnd = '\x01';
constexpr char kNumber = '\x02';
constexpr char kZeroByte = '\xff';  // A 00 in the text itself.
constexpr size_t kNumberBytes = 8;
constexpr uint64_t kSignBit = uint64_t{1} << 63;

void AppendPair(char second, std::string* key) {
  key->push_back('\0');
  key->push_back(second);
}

void AppendText(std::string_view text, std::string* key) {
  for (size_t zero; (zero = text.find('\0')) != std::string_view::npos;) {
    key->append(text.substr(0, zero));
    AppendPair(kZeroByte, key);
    text.remove_prefix(zero + 1);
  }
  key->append(text);
  AppendPair(kTextEnd, key);
}

void AppendNumber(int64_t number, std::string* key) {
  const uint64_t ordered = static_cast<uint64_t>(number) ^ kSignBit;
  AppendPair(kNumber, key);
  for (int shift = 56; shift >= 0; shift -= 8) key->push_back(static_cast<char>(ordered >> shift));
}

Status Undecodable() { return Status(Code::kDataLoss, "a key holds no valid path"); }

// The eight bytes after 00 02.
Result<std::string> TakeNumber(std::string_view* key) {
  if (key->size() < kNumberBytes) return Undecodable();
  uint64_t ordered = 0;
  for (size_t i = 0; i < kNumberBytes; ++i)
    ordered = ordered << 8 | static_cast<uint8_t>((*key)[i]);
  key->remove_prefix(kNumberBytes);
  const auto number = static_cast<int64_t>(ordered ^ kSignBit);
  if (number == 0) return Undecodable();
  return NumericIdText(number);
}

bool BeginsWithPair(std::string_view key, char second) {
  return key.size() >= 2 && key[0] == '\0' && key[1] == second;
}

}  // namespace

void AppendSegment(std::string_view id, std::string* key) {
  if (const std::optional<int64_t> number = NumericId(id)) {
    AppendNumber(*number, key);
  } else {
    AppendText(id, key);
  }
}

void AppendSegments(std::string_view path, std::string* key) {
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    AppendSegment(segment, key);
    path.remove_prefix(segment.size() == path.size() ? path.size() : segment.size() + 1);
  }
}

Result<std::string> TakeSegment(std::string_view* key) {
  if (BeginsWithPair(*key, kNumber)) {
    key->remove_prefix(2);
    return TakeNumber(key);
  }
  std::string text;
  while (true) {
    const size_t zero = key->find('\0');
    if (zero == std::string_view::npos || zero + 1 == key->size()) return Undecodable();
    text.append(key->substr(0, zero));
    const char second = (*key)[zero + 1];
    key->remove_prefix(zero + 2);
    if (second == kTextEnd) break;
    if (second != kZeroByte) return Undecodable();
    text.push_back('\0');
  }
  // Each path has exactly one key: a segment contains no '/', and numbers are not written as text.
  if (text.find('/') != std::string::npos || NumericId(text)) return Undecodable();
  return text;
}

void AppendDocumentPath(const DocumentPath& path, std::string* key) {
  key->reserve(key->size() + path.path().size() + 16);
  AppendSegments(path.collection(), key);
  key->append(kDocumentMark);
  AppendSegment(path.id(), key);
}

std::string EncodeDocumentPath(const DocumentPath& path) {
  std::string key;
  AppendDocumentPath(path, &key);
  return key;
}

Result<DocumentPath> DecodeDocumentPath(std::string_view key) {
  std::string path;
  path.reserve(key.size());
  while (!key.starts_with(kDocumentMark)) {
    ASSIGN_OR_RETURN(const std::string segment, TakeSegment(&key));
    path.append(segment).push_back('/');
  }
  key.remove_prefix(2);
  ASSIGN_OR_RETURN(const std::string id, TakeSegment(&key));
  if (!key.empty()) return Undecodable();
  Result<DocumentPath> document = DocumentPath::Parse(path.append(id));
  if (!document.ok()) return Undecodable();
  return document;
}

std::string EncodeCollectionPrefix(const CollectionPath& collection) {
  std::string key = EncodeCollectionSubtreePrefix(collection);
  key.append(kDocumentMark);
  return key;
}

std::string EncodeSubtreePrefix(std::string_view document_path) {
  std::string key;
  AppendSegments(document_path, &key);
  return key;
}

std::string EncodeCollectionSubtreePrefix(const CollectionPath& collection) {
  std::string key;
  key.reserve(collection.path().size() + 16);
  AppendSegments(collection.path(), &key);
  return key;
}

}  // namespace hearth::model
