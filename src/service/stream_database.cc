#include "service/stream_database.h"

namespace hearth::service {

Result<model::DatabaseName> StreamDatabase(const std::string& named,
                                           const http::RequestHead& head) {
  if (!named.empty()) return model::DatabaseName::Parse(named);
  const auto prefix = head.Find("google-cloud-resource-prefix");
  if (!prefix) return InvalidArgument("'database' must be set on the first request of a stream.");
  return model::DatabaseName::Parse(*prefix);
}

Status CheckStreamDatabase(const std::string& named, const model::DatabaseName& expected) {
  if (named.empty() || named == expected.text()) return Status();
  return InvalidArgument("Request specified a database (" + named +
                         ") that did not match the expected database (" + expected.text() + ")");
}

}  // namespace hearth::service
