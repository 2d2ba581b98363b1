// Files that are complete or absent: written aside, synced, then renamed, with a checksum at the
// end.
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

// Writes a file that replaces `path` only once all of it is on disk. If it is destroyed before
// that, `path` stays unchanged.
//
// Threads: one at a time, and one writer per path. Ownership: owns the open file.
// Errors: Unavailable for I/O errors. Commit reports a failed Append.
class CheckedWriter {
 public:
  static Result<CheckedWriter> Create(const std::string& path);

  void Append(const void* bytes, size_t size);
  template <typename T>
  requires(std::is_trivially_copyable_v<T>) void AppendNumber(const T& number) {
    Append(&number, sizeof(number));
  }
  // Adds the checksum, syncs the file and renames it to its path.
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

// Reads a file that a CheckedWriter wrote. The data must not be trusted before Verify succeeds.
//
// Threads: one at a time. Ownership: owns the open file. Errors: NotFound if there is no such file,
// Unavailable for I/O errors; from Verify, DataLoss if the bytes are not those that were written.
class CheckedReader {
 public:
  static Result<CheckedReader> Open(const std::string& path);

  // Bytes before the checksum that have not been read yet. Check a size from the file against this
  // before allocating memory for it.
  uint64_t remaining() const { return remaining_; }
  // False if fewer than `size` bytes remain, or if they cannot be read.
  [[nodiscard]] bool Read(void* bytes, size_t size);
  template <typename T>
  requires(std::is_trivially_copyable_v<T>) [[nodiscard]] bool ReadNumber(T* number) {
    return Read(number, sizeof(*number));
  }
  // OK if everything has been read and is as it was written.
  Status Verify();

 private:
  CheckedReader(FileHandle file, uint64_t remaining)
      : file_(std::move(file)), remaining_(remaining) {}

  FileHandle file_;
  uint64_t remaining_;
  uint32_t checksum_ = 0;
};

}  // namespace hearth::vector
