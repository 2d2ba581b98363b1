// ListDocuments and ListCollectionIds: pages of what lies below a parent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/read_scope.h"
#include "engine/read_view.h"
#include "model/names.h"
#include "query/query.h"

namespace hearth::engine {

inline constexpr size_t kPageSizeDefault = 100;
inline constexpr size_t kPageSizeMax = 300;
// A page ends early rather than grow beyond this, so that clients with gRPC's usual limit of
// 4 MiB can receive it. Only a single document may be larger.
inline constexpr size_t kPageBytesMax = 3 * 1024 * 1024;

struct ListDocumentsRequest {
  model::ParentName parent;
  std::string collection_id;              // Empty: the documents of all collections of the parent.
  size_t page_size = kPageSizeDefault;    // At least 1.
  std::string page_token = {};            // Of the page before; empty for the first.
  std::vector<query::Order> orders = {};  // Empty: by name.
  // Also names that have no document but documents below them. Only without orders.
  bool show_missing = false;
};

// What ListDocuments will read. InvalidArgument for a collection id that is none.
Result<ReadScope> ScopeOf(const ListDocumentsRequest& request);

struct ListedDocument {
  model::DocumentPath path;
  Record record;  // Null: there is no document of this name, only documents below it.
};

struct DocumentPage {
  std::vector<ListedDocument> documents;
  std::string next_page_token;  // Empty: this is the last page.
};

// May wait for the disk. InvalidArgument for a token that does not belong to this request.
Result<DocumentPage> ListDocuments(const ReadView& view, const ListDocumentsRequest& request);

struct CollectionIdPage {
  std::vector<std::string> collection_ids;
  std::string next_page_token;
};

// The ids of the collections directly below `parent` that have documents, at any depth. A page
// has at least one.
Result<CollectionIdPage> ListCollectionIds(const ReadView& view, const model::ParentName& parent,
                                           size_t page_size, const std::string& page_token);

}  // namespace hearth::engine
