#pragma once

#include <cstddef>

#include "model/fields.h"

namespace hearth::model {

// How many index entries Firestore's automatic single-field indexes make for a document: an
// ascending and a descending one for each field, those in nested maps included, and one more for
// each element of an array.
size_t CountIndexEntries(const Fields& fields);

}  // namespace hearth::model
