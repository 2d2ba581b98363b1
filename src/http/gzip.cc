#include "http/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "base/check.h"

namespace hearth::http {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // Selects zlib's gzip wrapper.
constexpr size_t kStepBytes = 64 * 1024;
constexpr size_t kOutputClaimBytes = 256 * 1024;

z_stream StreamOver(std::string_view input) {
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream.avail_in = static_cast<uInt>(input.size());
  return stream;
}

}  // namespace

Result<std::string> Gunzip(std::string_view compressed, size_t bytes_max, MemoryClaim* claim) {
  z_stream stream = StreamOver(compressed);
  CHECK(inflateInit2(&stream, kGzipWindowBits) == Z_OK);
  std::string plain;
  size_t claimed = 0;
  int state = Z_OK;
  bool has_memory = true;
  while (state == Z_OK) {
    const size_t begin = plain.size();
    // One byte beyond the limit distinguishes "exactly full" from "more to come".
    const size_t room = std::min(kStepBytes, bytes_max + 1 - begin);
    if (room == 0) break;
    // More than a small claim: a bomb does not use the reserve.
    if (claim != nullptr && claimed < begin + room) {
      has_memory = claim->Grow(kOutputClaimBytes);
      if (!has_memory) break;
      claimed += kOutputClaimBytes;
    }
    plain.resize(begin + room);
    stream.next_out = reinterpret_cast<Bytef*>(plain.data() + begin);
    stream.avail_out = static_cast<uInt>(room);
    state = inflate(&stream, Z_NO_FLUSH);
    plain.resize(begin + room - stream.avail_out);
  }
  const bool whole = state == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!has_memory) return NoMemoryToDecompress();
  if (plain.size() > bytes_max) {
    return Status(Code::kResourceExhausted,
                  "decompressed message larger than max (" + std::to_string(bytes_max) + " bytes)");
  }
  if (!whole) return Status(Code::kInternal, "the message is not valid gzip");
  return plain;
}

Status NoMemoryToDecompress() {
  return Status(Code::kResourceExhausted, "the server has no memory to decompress a message");
}

std::string Gzip(std::string_view plain) {
  z_stream stream = StreamOver(plain);
  CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, 8,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  std::string compressed(deflateBound(&stream, static_cast<uLong>(plain.size())), '\0');
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

}  // namespace hearth::http
