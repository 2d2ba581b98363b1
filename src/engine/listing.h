// ListDocuments and ListCollectionIds: pages of the documents or collections below a parent.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"
#include "engine/read_scope.h"
#include "engine/read_view.h"
#include "model/names.h"
#include "request/listing.h"

namespace hearth::engine {

// A page ends early rather than exceed this size, so that clients with gRPC's usual limit of 4 MiB
// can receive it, or the memory that is left. Only a single document may be larger.
inline constexpr size_t kPageBytesMax = 3 * 1024 * 1024;

// What ListDocuments will read. InvalidArgument for an invalid collection id.
Result<ReadScope> ScopeOf(const request::ListDocumentsRequest& request);

// May wait for the disk. InvalidArgument for a token that does not belong to this request.
Result<request::DocumentPage> ListDocuments(const ReadView& view,
                                            const request::ListDocumentsRequest& request);

// The ids of the collections directly below `parent` that have documents, at any depth. A page has
// at least one.
Result<request::CollectionIdPage> ListCollectionIds(const ReadView& view,
                                                    const model::ParentName& parent,
                                                    size_t page_size,
                                                    const std::string& page_token);

}  // namespace hearth::engine
