// ListDocuments and ListCollectionIds: pages of the children of a parent.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/names.h"
#include "model/record.h"
#include "query/query.h"

namespace hearth::request {

inline constexpr size_t kPageSizeDefault = 100;
inline constexpr size_t kPageSizeMax = 300;

struct ListDocumentsRequest {
  model::ParentName parent;
  std::string collection_id;              // Empty: the documents of all collections of the parent.
  size_t page_size = kPageSizeDefault;    // At least 1.
  std::string page_token = {};            // From the previous page; empty for the first.
  std::vector<query::Order> orders = {};  // Empty: by name.
  // Include names that have no document themselves but have documents below them. Only without
  // orders.
  bool show_missing = false;
};

struct ListedDocument {
  model::DocumentPath path;
  model::Record record;  // Null: no document of this name, only documents below it.
};

struct DocumentPage {
  std::vector<ListedDocument> documents;
  std::string next_page_token;  // Empty: this is the last page.
};

struct CollectionIdPage {
  std::vector<std::string> collection_ids;
  std::string next_page_token;
};

}  // namespace hearth::request
