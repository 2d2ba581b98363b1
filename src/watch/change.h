#pragma once

#include "model/document_key.h"
#include "model/names.h"
#include "model/record.h"
#include "model/timestamp.h"

namespace hearth::watch {

// One document before and after one commit. A record is null where there is no document.
struct Change {
  model::DatabaseNumber database;
  model::DocumentPath path;
  model::Record before;
  model::Record after;
  model::Timestamp commit_time;
};

}  // namespace hearth::watch
