#include "http/message_batch.h"

#include "http/grpc_framing.h"

namespace hearth::http {

void MessageBatch::Add(std::string_view message) {
  frames_.append(GrpcFrameHead(message.size())).append(message);
}

void MessageBatch::ForEach(const std::function<void(std::string_view message)>& visit) const {
  std::string_view rest = frames_;
  while (!rest.empty()) {
    const size_t size = GrpcMessageBytes(rest);
    visit(rest.substr(kGrpcFrameHeadBytes, size));
    rest.remove_prefix(kGrpcFrameHeadBytes + size);
  }
}

}  // namespace hearth::http
