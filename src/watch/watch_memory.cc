#include "watch/watch_memory.h"

#include "query/query_bytes.h"

namespace hearth::watch {
namespace {

// Its state, and its entries in the maps that find it.
constexpr size_t kEachTargetBytes = 2 * 1024;
// A query is kept with its cursors as sort keys and with keys of the values that select it. While
// its results are read, the reader has as many again.
constexpr size_t kQueryCopies = 6;
// A document of a set is in the set and in the index of documents.
constexpr size_t kDocumentCopies = 2;
constexpr size_t kEachDocumentBytes = 256;

}  // namespace

size_t BytesOf(const request::TargetRequest& request) {
  size_t bytes = kEachTargetBytes;
  if (const auto* query = std::get_if<query::NormalizedQuery>(&request.target)) {
    bytes += kQueryCopies * query::BytesOf(*query);
  } else {
    for (const model::DocumentPath& path : std::get<0>(request.target)) {
      bytes += kDocumentCopies * path.path().size() + kEachDocumentBytes;
    }
  }
  if (request.mask) bytes += query::BytesOf(*request.mask);
  if (request.resume) {
    if (const auto* token = std::get_if<std::string>(&request.resume->from)) bytes += token->size();
  }
  return bytes;
}

Status NoMemoryForTarget() {
  return Status(Code::kResourceExhausted, "the server has no memory left for this listener");
}

}  // namespace hearth::watch
