#pragma once

#include <cstddef>

#include "model/document_key.h"
#include "model/names.h"
#include "model/record.h"
#include "model/timestamp.h"

namespace hearth::watch {

// One document before and after one commit. A record is null if the document does not exist.
struct Change {
  model::DatabaseNumber database;
  model::DocumentPath path;
  model::Record before;
  model::Record after;
  model::Timestamp commit_time;
};

// Approximate memory use.
inline size_t BytesOf(const Change& change) {
  size_t bytes = sizeof(Change) + change.path.path().size();
  if (change.before) bytes += change.before->size();
  if (change.after) bytes += change.after->size();
  return bytes;
}

}  // namespace hearth::watch
