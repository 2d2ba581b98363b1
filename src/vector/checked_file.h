// Files that are whole or absent: written aside, synced, renamed; with a checksum at the end.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>

#include "base/status.h"

namespace hearth::vector {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

// Writes a file that replaces `path` only once all of it is on disk. Dropped before that, it leaves
// `path` as it was.
//
// Threads: one at a time, and one writer of a path. Ownership: owns the open file.
// Errors: Unavailable for I/O. A failed Append shows in Commit.
class CheckedWriter {
 public:
  static Result<CheckedWriter> Create(const std::string& path);

  void Append(const void* bytes, size_t size);
  template <typename T>
  requires(std::is_trivially_copyable_v<T>) void AppendNumber(const T& number) {
    Append(&number, sizeof(number));
  }
  // Adds the checksum, syncs the file and puts it in place.
  Status Commit();

  CheckedWriter(CheckedWriter&&) = default;
  ~CheckedWriter();

 private:
  CheckedWriter(std::string path, FileHandle file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  FileHandle file_;
  uint32_t checksum_ = 0;
};

// Reads what a CheckedWriter wrote. What it hands out counts only after Verify.
//
// Threads: one at a time. Ownership: owns the open file. Errors: NotFound when there is no such
// file, Unavailable for I/O; from Verify, DataLoss for bytes that are not those written.
class CheckedReader {
 public:
  static Result<CheckedReader> Open(const std::string& path);

  // Bytes before the checksum that were not read yet: what a size in the file can be held against
  // before memory is taken for it.
  uint64_t remaining() const { return remaining_; }
  // False when fewer than `size` bytes remain, or cannot be read.
  [[nodiscard]] bool Read(void* bytes, size_t size);
  template <typename T>
  requires(std::is_trivially_copyable_v<T>) [[nodiscard]] bool ReadNumber(T* number) {
    return Read(number, sizeof(*number));
  }
  // Everything was read and is as it was written.
  Status Verify();

 private:
  CheckedReader(FileHandle file, uint64_t remaining)
      : file_(std::move(file)), remaining_(remaining) {}

  FileHandle file_;
  uint64_t remaining_;
  uint32_t checksum_ = 0;
};

}  // namespace hearth::vector
