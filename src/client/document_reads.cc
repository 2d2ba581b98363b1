#include "client/document_reads.h"

#include <utility>

#include "base/status_macros.h"

namespace hearth::client {

Result<std::vector<DocumentSnapshot>> ReadDocuments(
    const std::shared_ptr<Transport>& transport, const std::vector<DocumentReference>& documents,
    const std::optional<std::vector<model::FieldPath>>& mask, const ReadMoment& moment) {
  std::vector<DocumentSnapshot> snapshots;
  if (documents.empty()) return snapshots;
  std::vector<model::DocumentPath> paths;
  paths.reserve(documents.size());
  for (const DocumentReference& document : documents) {
    ASSIGN_OR_RETURN(model::DocumentPath path, document.parsed_path());
    paths.push_back(std::move(path));
  }
  ASSIGN_OR_RETURN(Transport::Documents answer, transport->Get(paths, mask, moment));
  snapshots.reserve(answer.documents.size());
  for (TransportDocument& document : answer.documents) {
    snapshots.emplace_back(transport, std::move(document.path), std::move(document.record),
                           answer.read_time);
  }
  return snapshots;
}

}  // namespace hearth::client
