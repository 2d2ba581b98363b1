#include "client/remote/grpc_channel.h"

#include <algorithm>
#include <utility>

namespace hearth::client {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

milliseconds Until(steady_clock::time_point end) {
  return duration_cast<milliseconds>(end - steady_clock::now());
}

}  // namespace

class GrpcChannel::Place {
 public:
  Place(GrpcChannel& channel, steady_clock::time_point end)
      : channel_(channel), connection_(channel.Take(end)) {}
  ~Place() {
    if (connection_) channel_.Return(std::move(connection_));
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  GrpcConnection* connection() { return connection_.get(); }

 private:
  GrpcChannel& channel_;
  std::unique_ptr<GrpcConnection> connection_;
};

GrpcChannel::GrpcChannel(GrpcChannelOptions options) : options_(std::move(options)) {}

GrpcOutcome GrpcChannel::Call(const GrpcRequest& request, const OnGrpcMessage& on_message) {
  const steady_clock::time_point end = steady_clock::now() + options_.timeout;
  Place place(*this, end);
  if (place.connection() == nullptr) {
    return {Status(Code::kDeadlineExceeded,
                   "all " + std::to_string(options_.connections_max) + " connections are busy"),
            false};
  }
  const GrpcConnection::Limits limits{Until(end), options_.message_bytes_max};
  return place.connection()->Call(request, limits, on_message);
}

std::unique_ptr<GrpcConnection> GrpcChannel::Take(steady_clock::time_point end) {
  {
    MutexLock lock(mutex_);
    while (taken_ >= options_.connections_max) {
      const milliseconds left = Until(end);
      if (left <= milliseconds(0)) return nullptr;
      returned_.WaitFor(mutex_, left);
    }
    ++taken_;
    if (!idle_.empty()) {
      // The most recently used one is the least likely to have been closed by the server.
      std::unique_ptr<GrpcConnection> connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return std::make_unique<GrpcConnection>(options_.server);
}

void GrpcChannel::Return(std::unique_ptr<GrpcConnection> connection) {
  if (!connection->is_reusable()) connection.reset();  // Closes it, outside the lock.
  MutexLock lock(mutex_);
  --taken_;
  if (connection) idle_.push_back(std::move(connection));
  returned_.NotifyOne();
}

}  // namespace hearth::client
