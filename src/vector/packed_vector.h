// Decodes vectors from stored values, and packs them for index entries.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/value.h"

namespace hearth::vector {

// The components of a value, which must be of type kVector.
std::vector<double> DecodeVector(model::ValueView value);
// The same into `components`, whose memory is reused.
void DecodeVector(model::ValueView value, std::vector<double>* components);
// The number of components, without decoding them.
size_t VectorDimension(model::ValueView value);

// The packed form: each component as 8 bytes, little-endian IEEE 754, nothing else. Exact.
std::string PackVector(std::span<const double> components);
// PackVector of DecodeVector, in one pass.
std::string PackVector(model::ValueView value);

// The inverse of PackVector. DataLoss if `packed` has a length that no vector has: not a multiple
// of 8, zero, or more than model::kVectorDimensionsMax components.
Result<std::vector<double>> UnpackVector(std::string_view packed);
// The same into `components`, whose memory is reused.
Status UnpackVector(std::string_view packed, std::vector<double>* components);

}  // namespace hearth::vector
