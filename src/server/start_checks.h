// What a start checks of the machine: its clock, its limits, and who can read the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "model/timestamp.h"

namespace hearth::server {

// 2026-11-01. A clock before this is wrong.
inline constexpr int64_t kReleasedMicros = 1'793'491'200'000'000;
// A clock this much later than both the newest stored moment and the release is taken for wrong:
// five years.
inline constexpr int64_t kUnusedMicrosMax = int64_t{5} * 365 * 24 * 60 * 60 * 1'000'000;

enum class Clocks { kChecked, kAccepted };

// `newest`: the newest stored moment. Commit times never go back, so a clock that is far ahead does
// lasting harm: FailedPrecondition, unless it is accepted. Returns a warning for a clock that is
// suspicious but harmless; empty: none.
Result<std::string> CheckClock(int64_t wall_micros, model::Timestamp newest, Clocks clocks);

// The time that the machine's clock may leap to while the server runs: see GuardedClock.
int64_t PlausibleMicros(int64_t wall_micros);

// How the descriptors of the process are divided, so that clients cannot take those that storage
// needs.
struct FileShares {
  int tables = 0;          // Open table files of the store.
  size_t connections = 0;  // At most what was wanted.
};
struct FileNeeds {
  size_t connections = 0;  // Wanted.
  size_t loops = 0;
  bool has_apps = false;
  size_t sandbox_connections = 0;  // 0: there is no sandbox.
};
// ResourceExhausted if `limit` leaves room for hardly any connection.
Result<FileShares> DivideFiles(size_t limit, const FileNeeds& needs);

// Raises the soft limit of open files to the hard one, and returns it.
Result<size_t> RaiseFileLimit();

// How much of the disk that holds, or will hold, the folder `path` is kept for deletes: 128 MiB,
// but at most a tenth of the disk.
uint64_t DefaultReserveBytes(const std::string& path);

// A warning if users other than the owner can read `path`; nullopt: they cannot.
std::optional<std::string> WarningAboutAccess(const std::string& path);

}  // namespace hearth::server
