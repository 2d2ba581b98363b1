// WebChannel as browsers use it: docs/webchannel.md describes the protocol.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "cases/runner/http_client.h"
#include "cases/runner/rpc.h"

namespace hearth::cases {

// One streaming call over plain HTTP requests.
//
// Threads: one at a time. Ownership: borrows the client.
class WebChannelStream final : public RpcStream {
 public:
  // `method`: "Listen" or "Write".
  WebChannelStream(HttpClient& http, uint16_t port, const std::string& method,
                   const std::string& database);
  ~WebChannelStream() override;

  void Send(const google::protobuf::Message& message) override;
  Result<std::string> Receive() override;
  // Whether Receive would return without waiting.
  bool HasNews();

 private:
  void Open(const std::string& form);
  void OpenBackChannel();
  // Posts a form; "" if the request failed.
  std::string Post(const std::string& query, const std::string& form);
  // Processes what the back channel has received.
  void TakeChunks();
  void TakeArrays(std::string_view json);

  HttpClient& http_;
  const std::string url_;
  const google::protobuf::Message* const response_;  // Of the method's type.
  std::string session_id_;
  int request_id_ = 5'000;
  int sent_ = 0;
  int64_t last_array_ = 0;
  std::unique_ptr<HttpTransfer> back_channel_;
  std::deque<std::string> messages_;  // Encoded.
  Status end_;                        // Not OK once the call has ended.
};

// Removes a chunk "<length>
// <json>" from the front of `text`; false while it is incomplete. The length counts UTF-16 units.
bool TakeChunk(std::string* text, std::string* json);

}  // namespace hearth::cases
