// Requests to a feed over HTTP, as many kinds at a time as a day has.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/feed/stores/tokens.h"
#include "feed_data.h"

namespace hearth::feed {

enum class RequestKind : uint8_t { kPage, kLike, kComment, kPost };
inline constexpr size_t kRequestKinds = 4;

struct LoadOptions {
  std::string url;  // "http://127.0.0.1:4711"
  double requests_per_second = 1'000;
  std::chrono::milliseconds duration{8'000};
  size_t connections = 32;  // Also requests at a time.
};

struct LoadReport {
  // Until the answer, from when the request was due, not from when a connection was free for it:
  // waiting is part of what a client sees. By kind; none of errors.
  std::vector<double> milliseconds[kRequestKinds];
  uint64_t errors = 0;  // Answers other than 200 and 201, and none at all.
  double seconds = 0;   // Until the last answer.

  void Merge(const LoadReport& other);
};

// 80 pages of the readers' home feeds, 10 likes, 5 comments and 5 posts of a tiny picture by any
// author, out of a hundred. Every like is a new one, once on each database: `round` tells runs on
// the same database apart.
LoadReport SendMixedLoad(const LoadOptions& options, const FeedData& data, const Tokens& tokens,
                         int64_t round);

// The first page of every reader, one after the other; whoever was cold is warm then.
void WarmReaders(const LoadOptions& options, const FeedData& data, const Tokens& tokens);

}  // namespace hearth::feed
