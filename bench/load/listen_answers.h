// Parses just enough of Firestore's answers to check them, at a fraction of protobuf's cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::bench {

// Extracts the messages of one call from gRPC frames. Threads: one at a time.
class FrameSplitter {
 public:
  // Calls `visit` with every message that `bytes` completes.
  template <typename Visit>
  void Take(std::string_view bytes, const Visit& visit) {
    if (!rest_.empty()) bytes = rest_.append(bytes);
    size_t taken = 0;
    while (const std::optional<size_t> size = FrameBytes(bytes.substr(taken))) {
      visit(bytes.substr(taken + kHeadBytes, *size - kHeadBytes));
      taken += *size;
    }
    if (rest_.empty()) {
      rest_ = bytes.substr(taken);
    } else {
      rest_.erase(0, taken);
    }
  }

 private:
  static constexpr size_t kHeadBytes = 5;
  // Size of the first frame including its header; nullopt if it is incomplete.
  static std::optional<size_t> FrameBytes(std::string_view bytes);

  std::string rest_;
};

// Nanoseconds since the epoch.
enum class Nanos : int64_t {};

struct DocumentAnswer {
  std::string_view name;
  Nanos update_time{};
};

// A ListenResponse: a document, a target change, or neither.
struct ListenAnswer {
  // google.firestore.v1.TargetChange.TargetChangeType
  enum class Change : uint8_t { kNone = 0, kAdd = 1, kRemove = 2, kCurrent = 3, kReset = 4 };

  std::optional<DocumentAnswer> document;
  std::optional<Change> change;
  size_t targets = 0;  // Targets that the change names.
  std::optional<Nanos> read_time;
};

// These return nullopt if the bytes are not such a message.
std::optional<ListenAnswer> ReadListenAnswer(std::string_view message);
// A RunQueryResponse: at most one document.
std::optional<std::optional<DocumentAnswer>> ReadQueryAnswer(std::string_view message);
// A CommitResponse: its commit_time.
std::optional<Nanos> ReadCommitAnswer(std::string_view message);

// Checks off the documents 0, 1, 2, ... of a collection. Threads: one at a time.
class DocumentCensus {
 public:
  explicit DocumentCensus(std::string prefix) : prefix_(std::move(prefix)) {}
  // False for a document of another collection, or one that was added before.
  bool Add(std::string_view name);
  size_t count() const { return count_; }

 private:
  const std::string prefix_;  // Of the document names, up to the number.
  std::vector<bool> seen_;
  size_t count_ = 0;
};

}  // namespace hearth::bench
