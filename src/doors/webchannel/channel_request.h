// What the requests of a channel say.
#pragma once

#include <google/protobuf/descriptor.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "doors/webchannel/form.h"
#include "http/exchange.h"

namespace hearth::doors::webchannel {

// A message from the client. Its index counts all that the client has sent.
struct IncomingMap {
  uint64_t index = 0;
  Result<std::string> message;  // Or why it is none: that matters only when its turn comes.
};

enum class RequestKind : uint8_t { kHandshake, kForward, kBack, kTerminate };

// kPolling: the answer has to end for the client to see anything of it.
enum class BackChannelMode : uint8_t { kStreaming, kPolling };

// The query of a channel's request.
struct ChannelQuery {
  RequestKind kind = RequestKind::kHandshake;
  std::string session_id = {};
  std::optional<uint64_t> acknowledged = {};  // The last array that the client has.
  BackChannelMode mode = BackChannelMode::kStreaming;
  std::optional<std::chrono::milliseconds> poll_timeout = {};  // As the client wishes.
  bool wants_session_header = false;
};

// InvalidArgument for a request that is none of a channel's.
Result<ChannelQuery> ParseChannelQuery(std::string_view method, const Form& query);

// A query is far from that long.
inline constexpr size_t kQueryFieldsMax = 64;
// The fields of a body: one for each map, and a few about them.
size_t BodyFieldsMax();

// The messages of `type` in a body. InvalidArgument where they do not fit their announcement.
Result<std::vector<IncomingMap>> ReadMaps(const Form& body,
                                          const google::protobuf::Descriptor& type);

// The head of the call to `method_path`: the fields that the client has written into the body or
// into the query, then those of the HTTP request that they do not replace; and the query's
// "database" where no field names one.
http::RequestHead MakeCallHead(const http::RequestHead& request, std::string_view method_path,
                               const Form& query, const Form& body);

}  // namespace hearth::doors::webchannel
