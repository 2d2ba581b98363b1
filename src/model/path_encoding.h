// Order-preserving byte encodings of paths. docs/formats/keys.md has examples.
//
//   segment   := text | number
//   text      := bytes with 00 written as 00 FF, then 00 01
//   number    := 00 02, then the id of "__id<N>__" as eight bytes, big-endian, sign bit flipped
//   document  := collection segments, 00 00, the document id's segment
//   subtree   := the document's own segments in turn, without 00 00
//
// So the documents of a collection are contiguous and sorted by id, numeric ids first, and
// everything below a document shares the document's subtree prefix.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "model/names.h"

namespace hearth::model {

// Precedes the document's id.
inline constexpr std::string_view kDocumentMark("\x00\x00", 2);

void AppendSegment(std::string_view id, std::string* key);

// Appends the segments of a path "a/b/c" one after the other. Paths sort as their encodings do.
void AppendSegments(std::string_view path, std::string* key);

// Takes one segment off the front of `key`. DataLoss if it cannot be decoded.
Result<std::string> TakeSegment(std::string_view* key);

// The key of one document.
std::string EncodeDocumentPath(const DocumentPath& path);
void AppendDocumentPath(const DocumentPath& path, std::string* key);
Result<DocumentPath> DecodeDocumentPath(std::string_view key);

// The prefix of the keys of all documents directly in `collection`, and of no other keys.
std::string EncodeCollectionPrefix(const CollectionPath& collection);

// The prefix of the keys of all documents below `document_path` (at any depth), and of no other
// keys. The empty path gives the empty prefix. The next segment of such a key is a collection id.
std::string EncodeSubtreePrefix(std::string_view document_path);

// The prefix of the keys of everything below the documents of `collection`. The keys of the
// collection's own documents have this prefix too, followed by 00 00.
std::string EncodeCollectionSubtreePrefix(const CollectionPath& collection);

}  // namespace hearth::model
