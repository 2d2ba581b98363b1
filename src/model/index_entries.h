#pragma once

#include <cstddef>

#include "model/fields.h"

namespace hearth::model {

// The number of entries that Firestore's automatic single-field indexes have for a document: one
// ascending and one descending per field, including fields of nested maps, and one more per array
// element.
size_t CountIndexEntries(const Fields& fields);

}  // namespace hearth::model
