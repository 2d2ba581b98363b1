#pragma once

#include <google/protobuf/descriptor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doors/rest/path_template.h"

namespace hearth::doors::rest {

// One way in which HTTP can ask for a method.
struct Binding {
  const google::protobuf::MethodDescriptor* method;
  std::string http_method;
  PathTemplate path;
  std::string body;  // The field that the body is: "*" for the whole request, "" for none.
};

struct Match {
  const Binding* binding;
  PathTemplate::Values values;
};

// What a service's google.api.http annotations bind to HTTP.
//
// Threads: immutable. Ownership: owns the bindings; a Match views them.
class Bindings {
 public:
  explicit Bindings(const google::protobuf::ServiceDescriptor& service);

  // The binding that fits; nullopt if none does. Where several do, the one with a verb wins, and
  // then the length of the name decides: a path that names a collection is that of a method which
  // takes the collection's id as a variable of its own.
  std::optional<Match> Find(std::string_view http_method, std::string_view path) const;

 private:
  std::vector<Match> FindAll(std::string_view http_method,
                             const std::vector<std::string_view>& segments,
                             std::string_view verb) const;

  std::vector<Binding> bindings_;
};

}  // namespace hearth::doors::rest
