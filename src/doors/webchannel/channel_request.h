// Parses the requests of a channel.
#pragma once

#include <google/protobuf/descriptor.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "base/status.h"
#include "doors/webchannel/form.h"
#include "http/exchange.h"

namespace hearth::doors::webchannel {

// A message from the client. Its index counts all messages that the client has sent.
struct IncomingMap {
  uint64_t index = 0;
  Result<std::string> message;  // Or the parse error, which matters only when its turn comes.
};

enum class RequestKind : uint8_t { kHandshake, kForward, kBack, kTerminate };

// kPolling: the client sees nothing of the answer before it ends.
enum class BackChannelMode : uint8_t { kStreaming, kPolling };

// The query of a channel's request.
struct ChannelQuery {
  RequestKind kind = RequestKind::kHandshake;
  std::string session_id = {};
  std::optional<uint64_t> acknowledged = {};  // The last array that the client has received.
  BackChannelMode mode = BackChannelMode::kStreaming;
  std::optional<std::chrono::milliseconds> poll_timeout = {};  // As requested by the client.
  bool wants_session_header = false;
};

// InvalidArgument for a request that does not belong to a channel.
Result<ChannelQuery> ParseChannelQuery(std::string_view method, const Form& query);

// Far more than any query has.
inline constexpr size_t kQueryFieldsMax = 64;
// The fields of a body: one per map, and a few about them.
size_t BodyFieldsMax();

// The messages of `type` in a body; one of more than kMessageBytesMax is an error in its place.
// InvalidArgument if they do not match their announced count. `claim`, if there is one, grows with
// the messages.
Result<std::vector<IncomingMap>> ReadMaps(const Form& body,
                                          const google::protobuf::Descriptor& type,
                                          MemoryClaim* claim = nullptr);

// The head of the call to `method_path`: the fields that the client put into the body or the query,
// then those of the HTTP request that they do not replace; and the query's "database" if no field
// names one.
http::RequestHead MakeCallHead(const http::RequestHead& request, std::string_view method_path,
                               const Form& query, const Form& body);

}  // namespace hearth::doors::webchannel
