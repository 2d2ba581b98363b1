#include "request/write.h"

#include <string>
#include <string_view>
#include <unordered_set>

namespace hearth::request {

namespace {

size_t BytesOf(const model::FieldPath& path) {
  size_t bytes = sizeof(path);
  for (const std::string& segment : path.segments()) bytes += sizeof(segment) + segment.size();
  return bytes;
}

}  // namespace

size_t ApproximateBytes(const std::vector<Write>& writes) {
  size_t bytes = 0;
  for (const Write& write : writes) {
    bytes += sizeof(Write) + write.path.path().size() + write.fields.encoded().size();
    if (write.mask) {
      for (const model::FieldPath& path : *write.mask) bytes += BytesOf(path);
    }
    for (const model::FieldTransform& transform : write.transforms) {
      bytes += sizeof(transform) + BytesOf(transform.path) + transform.operand.size();
    }
  }
  return bytes;
}

Status CheckEachDocumentOnce(const std::vector<Write>& writes) {
  std::unordered_set<std::string_view> paths;
  for (const Write& write : writes) {
    if (!paths.insert(write.path.path()).second) {
      return InvalidArgument(
          "the same document cannot be written more than once in a single request");
    }
  }
  return Status();
}

}  // namespace hearth::request
