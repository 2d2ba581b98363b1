#pragma once

#include <google/protobuf/descriptor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doors/rest/path_template.h"

namespace hearth::doors::rest {

// One HTTP binding of a method.
struct Binding {
  const google::protobuf::MethodDescriptor* method;
  std::string http_method;
  PathTemplate path;
  std::string body;  // The field that the body contains: "*" for the whole request, "" for none.
};

struct Match {
  const Binding* binding;
  PathTemplate::Values values;
};

// The HTTP bindings of a service, from its google.api.http annotations.
//
// Threads: immutable. Ownership: owns the bindings; a Match refers to them.
class Bindings {
 public:
  explicit Bindings(const google::protobuf::ServiceDescriptor& service);

  // The matching binding; nullopt if there is none. If there are several, the one with a verb wins,
  // and then the length of the name decides: a path that names a collection belongs to a method
  // that takes the collection's id as a variable of its own.
  std::optional<Match> Find(std::string_view http_method, std::string_view path) const;

 private:
  std::vector<Match> FindAll(std::string_view http_method,
                             const std::vector<std::string_view>& segments,
                             std::string_view verb) const;

  std::vector<Binding> bindings_;
};

}  // namespace hearth::doors::rest
