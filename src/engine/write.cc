#include "engine/write.h"

namespace hearth::engine {

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

}  // namespace hearth::engine
