#include "http/rpc_methods.h"

#include <utility>

#include "base/check.h"

namespace hearth::http {

void RpcMethods::Add(std::string path, RpcMethod method) {
  CHECK(methods_.emplace(std::move(path), std::move(method)).second);
}

const RpcMethod* RpcMethods::Find(std::string_view path) const {
  const auto found = methods_.find(path);
  return found == methods_.end() ? nullptr : &found->second;
}

}  // namespace hearth::http
