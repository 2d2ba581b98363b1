// HTTP requests to a feed, in a realistic mix.
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
  size_t connections = 32;  // Also the number of concurrent requests.
};

struct LoadReport {
  // Latency, from the time at which the request was due, not from the time at which a connection
  // was free: waiting is part of what a client sees. By kind; errors are not included.
  std::vector<double> milliseconds[kRequestKinds];
  uint64_t errors = 0;  // Answers other than 200 and 201, and missing answers.
  double seconds = 0;   // Until the last answer.

  void Merge(const LoadReport& other);
};

// Out of a hundred requests: 80 pages of the readers' home feeds, 10 likes, 5 comments and 5 posts
// of a tiny picture by any author. Every like is new to its database: `round` distinguishes runs on
// the same database.
LoadReport SendMixedLoad(const LoadOptions& options, const FeedData& data, const Tokens& tokens,
                         int64_t round);

// Requests the first page of every reader, one after the other, which warms all their caches.
void WarmReaders(const LoadOptions& options, const FeedData& data, const Tokens& tokens);

}  // namespace hearth::feed
