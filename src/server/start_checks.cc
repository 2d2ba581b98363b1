#include "server/start_checks.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "storage/rocksdb_store.h"

namespace hearth::server {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kDay = 24 * 60 * 60 * kSecond;
constexpr int64_t kBehindMax = 60 * kSecond;  // Machines differ by less.
constexpr int64_t kLongPause = 30 * kDay;

constexpr uint64_t kReserveBytesMax = uint64_t{128} << 20;

constexpr int kTablesMax = 512;
constexpr int kTablesMin = 32;
constexpr size_t kTablesPart = 4;  // A quarter of the descriptors.
// Standard streams, listening sockets, files of vector graphs; connections that wait for the place
// of an idle one, or are refused.
constexpr size_t kOtherFiles = 128;
constexpr size_t kFilesPerLoop = 4;
constexpr size_t kAppFiles = 128;
// The sandbox's port besides its connections: its loop, its listening socket; connections that wait
// for the place of an idle one, or are refused.
constexpr size_t kSandboxFiles = 72;
constexpr size_t kConnectionsMin = 16;

}  // namespace

Result<std::string> CheckClock(int64_t wall_micros, model::Timestamp newest, Clocks clocks) {
  const std::string now = model::Timestamp::FromMicros(wall_micros).ToString();
  const int64_t latest = std::max(newest.micros(), kReleasedMicros) + kUnusedMicrosMax;
  if (wall_micros > latest && clocks == Clocks::kChecked) {
    return Status(Code::kFailedPrecondition,
                  "the machine's clock says " + now +
                      ", years after the newest data and this version; data written now would "
                      "keep all later times there: set the clock, or start with --accept-clock");
  }
  if (newest.micros() > wall_micros + kBehindMax) {
    return "the machine's clock says " + now + ", but the newest data is from " +
           newest.ToString() + "; new data gets later times than that";
  }
  if (wall_micros < kReleasedMicros) {
    return "the machine's clock says " + now + ", which is before this version was made";
  }
  if (newest.micros() > 0 && wall_micros > newest.micros() + kLongPause) {
    return "the machine's clock says " + now + ", and the newest data is from " +
           newest.ToString() + "; if the clock is wrong, stop hearth before data is written";
  }
  return std::string();
}

int64_t PlausibleMicros(int64_t wall_micros) {
  return wall_micros < kReleasedMicros ? kReleasedMicros + kUnusedMicrosMax : 0;
}

Result<FileShares> DivideFiles(size_t limit, const FileNeeds& needs) {
  const size_t tables =
      std::clamp<size_t>(limit / kTablesPart, size_t{kTablesMin}, size_t{kTablesMax});
  const size_t sandbox =
      needs.sandbox_connections > 0 ? needs.sandbox_connections + kSandboxFiles : 0;
  const size_t reserved = tables + size_t{storage::kFilesBesidesTables} + kOtherFiles +
                          needs.loops * kFilesPerLoop + (needs.has_apps ? kAppFiles : 0) + sandbox;
  if (limit < reserved + kConnectionsMin) {
    return Status(Code::kResourceExhausted,
                  "the limit of " + std::to_string(limit) + " open files is too low: at least " +
                      std::to_string(reserved + kConnectionsMin) +
                      " are needed (ulimit -n, or LimitNOFILE of a systemd unit)");
  }
  return FileShares{static_cast<int>(tables), std::min(needs.connections, limit - reserved)};
}

Result<size_t> RaiseFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Status(Code::kUnavailable,
                  std::string("cannot read the limit of open files: ") + std::strerror(errno));
  }
  const rlimit raised = {limit.rlim_max, limit.rlim_max};
  if (limit.rlim_cur < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return static_cast<size_t>(limit.rlim_cur);
}

uint64_t DefaultReserveBytes(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::space_info disk = fs::space(path, error);
  if (error) disk = fs::space(fs::absolute(path, error).parent_path(), error);
  return error ? kReserveBytesMax : std::min<uint64_t>(kReserveBytesMax, disk.capacity / 10);
}

std::optional<std::string> WarningAboutAccess(const std::string& path) {
  struct stat info = {};
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if (stat(path.c_str(), &info) != 0 || (info.st_mode & kOthers) == 0) return std::nullopt;
  std::array<char, 16> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(info.st_mode & 07777));
  return std::string("other users of this machine have access to the data folder (mode ") +
         mode.data() + "); chmod 700 takes it away";
}

}  // namespace hearth::server
