// Vectors out of stored values, and the packed form for index entries.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/value.h"

namespace hearth::vector {

// The components of a value of type kVector, which it requires.
std::vector<double> DecodeVector(model::ValueView value);
// The same into `components`, whose memory is used again.
void DecodeVector(model::ValueView value, std::vector<double>* components);
// How many components it has, without decoding them.
size_t VectorDimension(model::ValueView value);

// The packed form: each component as 8 bytes, little-endian IEEE 754, nothing else. Exact.
std::string PackVector(std::span<const double> components);
// PackVector of DecodeVector, in one pass.
std::string PackVector(model::ValueView value);

// What PackVector packed. DataLoss when `packed` has a length that no vector has: not a multiple of
// 8, nothing, or more than model::kVectorDimensionsMax components.
Result<std::vector<double>> UnpackVector(std::string_view packed);
// The same into `components`, whose memory is used again.
Status UnpackVector(std::string_view packed, std::vector<double>* components);

}  // namespace hearth::vector
