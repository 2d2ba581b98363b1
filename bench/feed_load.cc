#include "feed_load.h"

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/check.h"
#include "kit/images/images.h"
#include "kit/outbound/http_transfer.h"
#include "kit/outbound/outbound.h"
#include "kit/outbound/outbound_url.h"

namespace hearth::feed {
namespace {

using std::chrono::steady_clock;

// The mix of requests: out of twenty, sixteen pages, two likes, one comment and one post.
constexpr uint64_t kCycle = 20;
constexpr uint64_t kPages = 16;
constexpr uint64_t kLikes = 2;
// More likes than one run sends.
constexpr int64_t kLikesPerRound = 10'000;
constexpr int kPictureEdge = 8;

RequestKind KindOf(uint64_t number) {
  const uint64_t place = number % kCycle;
  if (place < kPages) return RequestKind::kPage;
  if (place < kPages + kLikes) return RequestKind::kLike;
  return place == kPages + kLikes ? RequestKind::kComment : RequestKind::kPost;
}

// A picture that differs from all others, so that its file has to be written.
std::string MakePicture(uint64_t number) {
  kit::Image image{.width = kPictureEdge, .height = kPictureEdge};
  for (int i = 0; i < kPictureEdge * kPictureEdge; ++i) {
    const auto bits = number >> (3 * (i % 16));
    image.pixels.push_back(static_cast<uint8_t>((bits & 7) * 36));
    image.pixels.insert(image.pixels.end(), {100, 150, 255});
  }
  const Result<std::string> encoded = kit::EncodeWebp(image, 90, kit::WebpEffort::kFast);
  CHECK(encoded.ok());
  return *encoded;
}

class RequestMix {
 public:
  RequestMix(std::string url, const FeedData& data, const Tokens& tokens, int64_t round)
      : url_(std::move(url)), data_(data), tokens_(tokens), round_(round) {}

  kit::HttpRequest Page(UserId reader) const { return Make(reader, "GET", "/feed"); }

  kit::HttpRequest Request(uint64_t number) const {
    const auto index = static_cast<int64_t>(number);
    const UserId reader = data_.Reader(index);
    switch (KindOf(number)) {
      case RequestKind::kPage:
        return Page(reader);
      case RequestKind::kLike:
        return Like(index);
      case RequestKind::kComment: {
        kit::HttpRequest request = Make(reader, "POST", PostPath(index) + "/comments");
        request.headers.emplace_back("content-type", "application/json");
        request.body = nlohmann::json{{"text", "How nice, " + std::to_string(index)}}.dump();
        return request;
      }
      case RequestKind::kPost:
        break;
    }
    kit::HttpRequest request = Make(data_.Author(index * 7), "POST", "/posts");
    request.headers.emplace_back("content-type", "multipart/form-data; boundary=x");
    const uint64_t picture = number + static_cast<uint64_t>(round_) * 1'000'000;
    request.body =
        "--x\r\nContent-Disposition: form-data; name=\"images\"; filename=\"a.webp\"\r\n\r\n" +
        MakePicture(picture) + "\r\n--x--\r\n";
    return request;
  }

 private:
  kit::HttpRequest Make(UserId user, std::string method, const std::string& path) const {
    return {.method = std::move(method),
            .url = url_ + path,
            .headers = {{"authorization", "Bearer " + tokens_.SignAccess(user)}}};
  }
  kit::HttpRequest Like(int64_t index) const {
    // Each number is a distinct pair of a post and a reader.
    const auto cycle = static_cast<int64_t>(kCycle);
    const int64_t like =
        round_ * kLikesPerRound + index / cycle * static_cast<int64_t>(kLikes) + index % cycle % 2;
    const UserId reader = data_.Reader(like / data_.size().posts);
    return Make(reader, "POST", PostPath(like) + "/like");
  }
  std::string PostPath(int64_t index) const {
    return "/posts/" + std::to_string(index % data_.size().posts + 1);
  }

  const std::string url_;
  const FeedData& data_;
  const Tokens& tokens_;
  const int64_t round_;
};

// A persistent connection.
class Client {
 public:
  // The answer's status; 0 if there was no answer.
  int Send(const kit::HttpRequest& request) {
    const Result<kit::OutboundUrl> url = kit::ParseOutboundUrl(request.url);
    CHECK(url.ok());
    const Result<kit::HttpResponse> response =
        transfer_.Perform(request, *url, kit::PrivateAddresses::kAllowed, limits_, stopping_);
    return response.ok() ? response->status : 0;
  }

 private:
  const kit::TransferLimits limits_ = {.connect_timeout = std::chrono::seconds(5),
                                       .timeout = std::chrono::seconds(30),
                                       .response_bytes_max = 1024 * 1024,
                                       .user_agent = "bench"};
  const std::atomic<bool> stopping_ = false;
  kit::HttpTransfer transfer_;
};

bool IsSuccess(int status) { return status == 200 || status == 201; }

}  // namespace

void LoadReport::Merge(const LoadReport& other) {
  errors += other.errors;
  seconds += other.seconds;
  for (size_t kind = 0; kind < kRequestKinds; ++kind) {
    milliseconds[kind].insert(milliseconds[kind].end(), other.milliseconds[kind].begin(),
                              other.milliseconds[kind].end());
  }
}

LoadReport SendMixedLoad(const LoadOptions& options, const FeedData& data, const Tokens& tokens,
                         int64_t round) {
  const RequestMix mix(options.url, data, tokens, round);
  const std::chrono::duration<double> duration = options.duration;
  const auto total = static_cast<uint64_t>(options.requests_per_second * duration.count());
  CHECK(total * kLikes / kCycle <= static_cast<uint64_t>(kLikesPerRound));
  std::atomic<uint64_t> next = 0;
  std::vector<LoadReport> reports(options.connections);
  const steady_clock::time_point start = steady_clock::now();
  const auto work = [&](LoadReport* report) {
    Client client;
    while (true) {
      const uint64_t number = next++;
      if (number >= total) return;
      const kit::HttpRequest request = mix.Request(number);
      const std::chrono::duration<double> offset(static_cast<double>(number) /
                                                 options.requests_per_second);
      const auto due = start + std::chrono::duration_cast<steady_clock::duration>(offset);
      std::this_thread::sleep_until(due);
      if (!IsSuccess(client.Send(request))) {
        ++report->errors;
        continue;
      }
      const std::chrono::duration<double, std::milli> took = steady_clock::now() - due;
      report->milliseconds[static_cast<size_t>(KindOf(number))].push_back(took.count());
    }
  };
  std::vector<std::thread> threads;
  for (LoadReport& report : reports) threads.emplace_back(work, &report);
  for (std::thread& thread : threads) thread.join();

  LoadReport sum;
  for (const LoadReport& report : reports) sum.Merge(report);
  sum.seconds = std::chrono::duration<double>(steady_clock::now() - start).count();
  return sum;
}

void WarmReaders(const LoadOptions& options, const FeedData& data, const Tokens& tokens) {
  const RequestMix mix(options.url, data, tokens, 0);
  Client client;
  for (int64_t i = 0; i < data.size().readers; ++i) {
    CHECK(IsSuccess(client.Send(mix.Page(data.Reader(i)))));
  }
}

}  // namespace hearth::feed
