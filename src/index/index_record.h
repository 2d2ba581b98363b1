#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "index/index_set.h"

namespace hearth::index {

// The stored information about an index, under its number.
//
//   record := database (4), state (1), origin (1), scope (1), name (1: descending), used (8),
//             collection id, progress, dimension (4; 0: no vector), [vector's path], field*
//   field  := mode (1), path
//
// Numbers are big-endian; ids, paths and the progress are preceded by their length (4).
struct IndexRecord {
  model::DatabaseNumber database;
  State state;
  Origin origin;
  int64_t used_at_micros = 0;
  // For kBuilding: the key of the last document that was examined; empty before the first.
  std::string progress;
  Definition definition;
};

std::string EncodeIndexRecord(const IndexRecord& record);
// DataLoss if it cannot be decoded.
Result<IndexRecord> DecodeIndexRecord(std::string_view bytes);

}  // namespace hearth::index
