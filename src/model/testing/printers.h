// For tests: how GoogleTest prints our types when an expectation fails.
#pragma once

#include <ostream>

#include "base/status.h"
#include "model/names.h"
#include "model/timestamp.h"

namespace hearth {

inline void PrintTo(const Status& status, std::ostream* out) { *out << status.ToString(); }

namespace model {

inline void PrintTo(Timestamp time, std::ostream* out) { *out << time.micros() << " µs"; }
inline void PrintTo(const DocumentPath& path, std::ostream* out) { *out << path.path(); }

}  // namespace model
}  // namespace hearth
