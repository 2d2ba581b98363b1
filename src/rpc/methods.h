#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "rpc/call.h"

namespace hearth::rpc {

using Method = std::variant<SingleRequestMethod, StreamMethod>;

// The methods of a server by full path, "/package.Service/Method", for all protocols.
//
// Threads: methods are added before the server starts; then any thread may look one up.
// Ownership: owns the methods; must outlive the calls that they answer.
class Methods {
 public:
  void Add(std::string path, Method method);
  // Null if there is no such method.
  const Method* Find(std::string_view path) const;
  size_t size() const { return methods_.size(); }

 private:
  struct PathHash : std::hash<std::string_view> {
    using is_transparent = void;  // So that looking up a view creates no string.
  };

  std::unordered_map<std::string, Method, PathHash, std::equal_to<>> methods_;
};

}  // namespace hearth::rpc
