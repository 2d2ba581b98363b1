#include "load/load_generator.h"

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "base/status_macros.h"
#include "load/load_connection.h"

namespace hearth::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Calls in flight at the end get this long to finish.
constexpr std::chrono::seconds kFinishTimeout{10};
constexpr std::chrono::milliseconds kPollMax{100};
constexpr std::chrono::milliseconds kPollMaxWithRate{1};

// The connections of one thread.
class LoadThread {
 public:
  LoadThread(const LoadOptions& options, LoadBody& body, std::atomic<uint64_t>& next_request,
             size_t connections)
      : rate_(options.rate * static_cast<double>(connections) /
              static_cast<double>(options.connections)) {
    for (size_t i = 0; i < connections; ++i) {
      connections_.push_back(
          std::make_unique<LoadConnection>(options, body, next_request, counts_));
    }
  }

  Status Start() {
    for (const auto& connection : connections_) {
      RETURN_IF_ERROR(connection->Start());
      poll_.Add(connection->connection());
    }
    return Status();
  }

  void Run(Clock::time_point end) {
    const Clock::time_point start = Clock::now();
    bool opening = true;
    while (!AllFinished()) {
      const Clock::time_point now = Clock::now();
      if (opening && now >= end) {
        opening = false;
        for (const auto& connection : connections_) connection->StopOpening();
      }
      if (now >= end + kFinishTimeout) break;
      if (opening && rate_ > 0) OpenDue(now - start);
      poll_.Wait(rate_ > 0 ? kPollMaxWithRate : kPollMax);
    }
    for (const auto& connection : connections_) {
      if (connection->connection().lost()) counts_.by_grpc_status[-1] += connection->in_flight();
    }
  }

  const LoadCounts& counts() const { return counts_; }

 private:
  // Opens what is due after `elapsed`, in equal parts on all connections.
  void OpenDue(Clock::duration elapsed) {
    const double seconds = std::chrono::duration<double>(elapsed).count();
    const double per_connection = rate_ * seconds / static_cast<double>(connections_.size());
    const auto due = static_cast<uint64_t>(per_connection);
    for (const auto& connection : connections_) {
      if (connection->connection().lost()) continue;
      connection->OpenMore(due - due_before_);
      poll_.Update(connection->connection());
    }
    due_before_ = due;
  }

  bool AllFinished() const {
    for (const auto& connection : connections_) {
      if (!connection->finished()) return false;
    }
    return true;
  }

  const double rate_;        // Of this thread.
  uint64_t due_before_ = 0;  // Of each connection.
  LoadCounts counts_;
  std::vector<std::unique_ptr<LoadConnection>> connections_;
  ClientPoll poll_;
};

}  // namespace

Result<std::vector<std::string>> ReadMessages(const std::string& file_name) {
  std::ifstream file(file_name, std::ios::binary);
  if (!file) return InvalidArgument("cannot read " + file_name);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> messages;
  for (size_t at = 0; at < bytes.size();) {
    constexpr size_t kSizeBytes = 4;
    size_t size = 0;
    for (size_t i = 0; i < kSizeBytes && at + i < bytes.size(); ++i) {
      size |= static_cast<size_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
    }
    at += kSizeBytes;
    if (at > bytes.size() || size > bytes.size() - at) {
      return InvalidArgument(file_name + " ends inside a message");
    }
    messages.push_back(bytes.substr(at, size));
    at += size;
  }
  if (messages.empty()) return InvalidArgument(file_name + " holds no message");
  return messages;
}

Result<LoadReport> GenerateLoad(const LoadOptions& options, LoadBody& body) {
  std::atomic<uint64_t> next_request = 0;
  std::vector<std::unique_ptr<LoadThread>> threads;
  for (size_t i = 0; i < options.threads; ++i) {
    const size_t extra = i < options.connections % options.threads ? 1 : 0;
    threads.push_back(std::make_unique<LoadThread>(options, body, next_request,
                                                   options.connections / options.threads + extra));
  }
  const Clock::time_point start = Clock::now();
  for (const auto& thread : threads) RETURN_IF_ERROR(thread->Start());
  {
    std::vector<std::jthread> running;
    for (const auto& thread : threads) {
      running.emplace_back([&] { thread->Run(start + options.duration); });
    }
  }
  LoadReport report;
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  LatencyHistogram latency;
  for (const auto& thread : threads) {
    latency.Merge(thread->counts().latency);
    report.in_time += thread->counts().in_time;
    for (const auto& [status, count] : thread->counts().by_grpc_status) {
      report.by_grpc_status[status] += count;
      report.requests += count;
    }
  }
  constexpr double kNanosPerMicro = 1e3;
  report.p50_micros = latency.Percentile(0.50) / kNanosPerMicro;
  report.p99_micros = latency.Percentile(0.99) / kNanosPerMicro;
  return report;
}

std::string LoadReport::ToJson() const {
  std::string errors;
  for (const auto& [status, count] : by_grpc_status) {
    if (status == 0) continue;
    errors += (errors.empty() ? "" : ", ") + ("\"" + std::to_string(status) + "\": ") +
              std::to_string(count);
  }
  const double rate = seconds > 0 ? static_cast<double>(requests) / seconds : 0;
  const double in_time_rate = seconds > 0 ? static_cast<double>(in_time) / seconds : 0;
  char numbers[256];
  snprintf(
      numbers, sizeof(numbers),
      "{\"requests\": %llu, \"seconds\": %.3f, \"requests_per_second\": %.0f, "
      "\"in_time_per_second\": %.0f, \"p50_micros\": %.1f, \"p99_micros\": %.1f, \"errors\": {",
      static_cast<unsigned long long>(requests), seconds, rate, in_time_rate, p50_micros,
      p99_micros);
  return numbers + errors + "}}";
}

}  // namespace hearth::bench
