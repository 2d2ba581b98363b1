// WebChannel as browsers speak it: docs/webchannel.md has the protocol.
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
  // Whether Receive would not wait.
  bool HasNews();

 private:
  void Open(const std::string& form);
  void OpenBackChannel();
  // Posts a form; "" where there was no good answer.
  std::string Post(const std::string& query, const std::string& form);
  // Takes in what the back channel has brought.
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

// Takes a chunk "<length>\n<json>" off the front of `text`; false while it is not complete. The
// length counts UTF-16 units.
bool TakeChunk(std::string* text, std::string* json);

}  // namespace hearth::cases
