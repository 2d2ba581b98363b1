#include "client/value.h"

#include <utility>

namespace hearth::client {

FieldValue::FieldValue(Kind kind, std::vector<Value> operands)
    : kind_(kind), operands_(std::move(operands)) {}

}  // namespace hearth::client
