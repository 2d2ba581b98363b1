#include "request/write.h"

#include <string_view>
#include <unordered_set>

namespace hearth::request {

size_t ApproximateBytes(const std::vector<Write>& writes) {
  size_t bytes = 0;
  for (const Write& write : writes) {
    bytes += sizeof(Write) + write.path.path().size() + write.fields.encoded().size();
    for (const model::FieldTransform& transform : write.transforms) {
      bytes += sizeof(transform) + transform.operand.size();
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
