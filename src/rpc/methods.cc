#include "rpc/methods.h"

#include <utility>

#include "base/check.h"

namespace hearth::rpc {

void Methods::Add(std::string path, Method method) {
  CHECK(methods_.emplace(std::move(path), std::move(method)).second);
}

const Method* Methods::Find(std::string_view path) const {
  const auto found = methods_.find(path);
  return found == methods_.end() ? nullptr : &found->second;
}

}  // namespace hearth::rpc
