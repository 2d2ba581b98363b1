#include "kit/request.h"

namespace hearth::kit {

Request::Request(http::RequestHead head, std::string body, std::string path, std::string peer)
    : head_(std::move(head)),
      body_(std::move(body)),
      path_(std::move(path)),
      peer_(std::move(peer)) {}

}  // namespace hearth::kit
