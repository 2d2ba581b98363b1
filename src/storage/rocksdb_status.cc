#include "storage/rocksdb_status.h"

#include <string>

#include "base/log.h"

namespace hearth::storage {
namespace {

Code CodeOf(const rocksdb::Status& status) {
  if (status.IsCorruption()) return Code::kDataLoss;
  if (status.IsNoSpace()) return Code::kResourceExhausted;
  return Code::kUnavailable;
}

std::string MessageOf(Code code) {
  switch (code) {
    case Code::kDataLoss:
      return "stored data is damaged; the server's log has the details";
    case Code::kResourceExhausted:
      return "the server's disk is full";
    default:
      return "the server's disk failed; its log has the details";
  }
}

}  // namespace

Status FromRocksDb(const rocksdb::Status& status) {
  return status.ok() ? Status() : Status(CodeOf(status), status.ToString());
}

bool ErrorReports::MayLog() const {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kInterval = std::chrono::seconds(1) / kLinesPerSecondMax;
  const Clock::rep now = Clock::now().time_since_epoch().count();
  Clock::rep next = next_line_;
  return now >= next && next_line_.compare_exchange_strong(next, now + kInterval.count());
}

Status ErrorReports::Of(const rocksdb::Status& status) const {
  if (status.ok() || !in_service_) return FromRocksDb(status);
  if (MayLog()) Log(LogLevel::kError, "storage failed", {{"error", status.ToString()}});
  const Code code = CodeOf(status);
  return Status(code, MessageOf(code));
}

}  // namespace hearth::storage
