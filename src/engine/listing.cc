#include "engine/listing.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "documents/document_cursor.h"
#include "documents/keys.h"
#include "engine/ordered_page.h"
#include "engine/read_view_parts.h"
#include "model/document.h"
#include "model/path_encoding.h"
#include "request/page_token.h"

namespace hearth::engine {
namespace {

using model::CollectionPath;
using model::DocumentPath;
using model::ParentName;

constexpr char kTokenSeparator = '\n';

// The first key that sorts after everything that starts with `prefix`.
std::string After(std::string_view prefix) { return storage::PrefixRange(prefix).last; }

// Walks the ids of the collections directly below a parent.
class CollectionIds {
 public:
  CollectionIds(const ReadView& view, const ParentName& parent, std::string_view after_id)
      : prefix_(model::DatabaseKeyPrefix(view.database().number) +
                model::EncodeSubtreePrefix(parent.document_path)) {
    storage::KeyRange range = storage::PrefixRange(prefix_);
    if (!after_id.empty()) {
      std::string last = prefix_;
      model::AppendSegment(after_id, &last);
      range.first = After(last);
    }
    cursor_ = view.Scan(std::move(range));
  }

  // The next id; nullopt after the last one.
  Result<std::optional<std::string>> Next() {
    if (!cursor_->Valid()) {
      RETURN_IF_ERROR(cursor_->status());
      return std::nullopt;
    }
    std::string_view rest = cursor_->key().substr(prefix_.size());
    ASSIGN_OR_RETURN(std::string id, model::TakeSegment(&rest));
    std::string whole = prefix_;
    model::AppendSegment(id, &whole);
    cursor_->Seek(After(whole));
    return std::optional<std::string>(std::move(id));
  }

 private:
  std::string prefix_;
  std::unique_ptr<documents::DocumentCursor> cursor_;
};

// Walks the documents of one collection by id and, if requested, the names without a document that
// have documents below them.
class CollectionWalk {
 public:
  CollectionWalk(const ReadView& view, const CollectionPath& collection, bool with_missing,
                 std::string_view after_id)
      : collection_(collection),
        documents_prefix_(model::CollectionKeyPrefix(view.database().number, collection)),
        subtree_prefix_(model::DatabaseKeyPrefix(view.database().number) +
                        model::EncodeCollectionSubtreePrefix(collection)) {
    std::string after_segment;
    if (!after_id.empty()) model::AppendSegment(after_id, &after_segment);
    storage::KeyRange documents = storage::PrefixRange(documents_prefix_);
    if (!after_id.empty()) documents.first = After(documents_prefix_ + after_segment);
    documents_ = view.Scan(std::move(documents));
    if (!with_missing) return;
    storage::KeyRange below = storage::PrefixRange(subtree_prefix_);
    below.first = After(after_id.empty() ? documents_prefix_ : subtree_prefix_ + after_segment);
    below_ = view.Scan(std::move(below));
  }

  Result<std::optional<request::ListedDocument>> Next() {
    RETURN_IF_ERROR(documents_->status());
    if (below_) RETURN_IF_ERROR(below_->status());
    const bool has_document = documents_->Valid();
    const bool has_below = below_ && below_->Valid();
    if (!has_document && !has_below) return std::nullopt;

    std::string document_segment;
    if (has_document) document_segment = documents_->key().substr(documents_prefix_.size());
    std::string below_segment;
    if (has_below) {
      std::string_view rest = below_->key().substr(subtree_prefix_.size());
      const size_t whole = rest.size();
      RETURN_IF_ERROR(model::TakeSegment(&rest).status());
      below_segment = below_->key().substr(subtree_prefix_.size(), whole - rest.size());
    }
    const bool takes_document = has_document && (!has_below || document_segment <= below_segment);
    const bool takes_below = has_below && (!has_document || below_segment <= document_segment);
    std::string_view segment = takes_document ? document_segment : below_segment;
    ASSIGN_OR_RETURN(const std::string id, model::TakeSegment(&segment));
    ASSIGN_OR_RETURN(DocumentPath path, collection_.Document(id));
    request::ListedDocument listed{std::move(path), nullptr};
    if (takes_document) {
      listed.record = std::make_shared<const std::string>(documents_->record());
      documents_->Next();
    }
    if (takes_below) below_->Seek(After(subtree_prefix_ + below_segment));
    return std::optional<request::ListedDocument>(std::move(listed));
  }

 private:
  const CollectionPath collection_;
  const std::string documents_prefix_;
  const std::string subtree_prefix_;
  std::unique_ptr<documents::DocumentCursor> documents_;
  std::unique_ptr<documents::DocumentCursor> below_;  // Null: missing names are not requested.
};

// Walks the documents of one collection, or of all collections of the parent.
class ParentWalk {
 public:
  ParentWalk(const ReadView& view, const request::ListDocumentsRequest& request)
      : view_(view), request_(request) {}

  // Continues after `last`; nullopt: from the beginning.
  Status Start(const std::optional<DocumentPath>& last) {
    std::string after_collection;
    if (!request_.collection_id.empty()) {
      return Enter(request_.collection_id, last ? last->id() : std::string_view());
    }
    if (last) {
      ASSIGN_OR_RETURN(const CollectionPath collection, CollectionPath::Parse(last->collection()));
      after_collection = collection.id();
      RETURN_IF_ERROR(Enter(after_collection, last->id()));
    }
    collections_ = std::make_unique<CollectionIds>(view_, request_.parent, after_collection);
    return Status();
  }

  Result<std::optional<request::ListedDocument>> Next() {
    while (true) {
      if (collection_) {
        ASSIGN_OR_RETURN(std::optional<request::ListedDocument> document, collection_->Next());
        if (document || !collections_) return document;
      }
      // Collections may only have documents further below.
      RETURN_IF_ERROR(view_.Pause());
      ASSIGN_OR_RETURN(const std::optional<std::string> id, collections_->Next());
      if (!id) return std::nullopt;
      RETURN_IF_ERROR(Enter(*id, ""));
    }
  }

 private:
  Status Enter(std::string_view collection_id, std::string_view after_id) {
    ASSIGN_OR_RETURN(const CollectionPath collection, request_.parent.Collection(collection_id));
    collection_ =
        std::make_unique<CollectionWalk>(view_, collection, request_.show_missing, after_id);
    return Status();
  }

  const ReadView& view_;
  const request::ListDocumentsRequest& request_;
  std::unique_ptr<CollectionIds> collections_;  // Null: only one collection is walked.
  std::unique_ptr<CollectionWalk> collection_;
};

// The identity to which a page token of this request is bound.
std::string RequestIdentity(const request::ListDocumentsRequest& request) {
  std::string identity = "documents";
  identity += kTokenSeparator + request.parent.document_path;
  identity += kTokenSeparator + request.collection_id;
  for (const query::Order& order : request.orders) {
    identity += kTokenSeparator + order.path.ToString();
    identity += order.direction == query::SortDirection::kAscending ? " asc" : " desc";
  }
  if (request.show_missing) identity += " missing";
  return identity;
}

Result<request::DocumentPage> ListByName(const ReadView& view,
                                         const request::ListDocumentsRequest& request) {
  const std::string identity = RequestIdentity(request);
  std::optional<DocumentPath> last;
  if (!request.page_token.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                     request::DecodePageToken(request.page_token, identity));
    if (parts.size() != 1) return InvalidArgument("invalid page token");
    Result<DocumentPath> path = DocumentPath::Parse(parts[0]);
    if (!path.ok()) return InvalidArgument("invalid page token");
    last = *std::move(path);
  }
  ParentWalk walk(view, request);
  RETURN_IF_ERROR(walk.Start(last));

  request::DocumentPage page;
  size_t bytes = 0;
  MemoryClaim claim(view.parts().memory);
  while (true) {
    RETURN_IF_ERROR(view.Pause());
    ASSIGN_OR_RETURN(std::optional<request::ListedDocument> document, walk.Next());
    if (!document) return page;
    bytes += document->path.path().size() + (document->record ? document->record->size() : 0);
    const bool fits = bytes <= kPageBytesMax && claim.Reserve(bytes);
    const bool is_full =
        page.documents.size() >= request.page_size || (!fits && !page.documents.empty());
    if (is_full) {
      page.next_page_token =
          request::EncodePageToken(identity, {page.documents.back().path.path()});
      return page;
    }
    page.documents.push_back(*std::move(document));
  }
}

Result<request::DocumentPage> ListByOrders(const ReadView& view,
                                           const request::ListDocumentsRequest& request) {
  const std::string identity = RequestIdentity(request);
  OrderedPage page(request.orders, request.page_size, view.parts().memory);
  if (!request.page_token.empty()) {
    ASSIGN_OR_RETURN(std::vector<std::string> parts,
                     request::DecodePageToken(request.page_token, identity));
    RETURN_IF_ERROR(page.StartAfter(std::move(parts)));
  }
  ParentWalk walk(view, request);
  RETURN_IF_ERROR(walk.Start(std::nullopt));
  while (true) {
    RETURN_IF_ERROR(view.Pause());
    ASSIGN_OR_RETURN(std::optional<request::ListedDocument> document, walk.Next());
    if (!document) break;
    page.Add(*std::move(document));
  }
  request::DocumentPage result;
  const std::vector<std::string> next = page.Finish(&result.documents);
  if (!next.empty()) result.next_page_token = request::EncodePageToken(identity, next);
  return result;
}

}  // namespace

Result<ReadScope> ScopeOf(const request::ListDocumentsRequest& request) {
  ReadScope scope;
  scope.access = ReadScope::Access::kScans;
  if (request.collection_id.empty()) {
    scope.path_prefixes.push_back(model::EncodeSubtreePrefix(request.parent.document_path));
    return scope;
  }
  ASSIGN_OR_RETURN(const CollectionPath collection,
                   request.parent.Collection(request.collection_id));
  // Whether a name is missing depends on the documents below it.
  scope.path_prefixes.push_back(request.show_missing
                                    ? model::EncodeCollectionSubtreePrefix(collection)
                                    : model::EncodeCollectionPrefix(collection));
  return scope;
}

Result<request::DocumentPage> ListDocuments(const ReadView& view,
                                            const request::ListDocumentsRequest& request) {
  CHECK(request.page_size > 0);
  return request.orders.empty() ? ListByName(view, request) : ListByOrders(view, request);
}

Result<request::CollectionIdPage> ListCollectionIds(const ReadView& view, const ParentName& parent,
                                                    size_t page_size,
                                                    const std::string& page_token) {
  CHECK(page_size > 0);
  const std::string identity = "collections\n" + parent.document_path;
  std::string after_id;
  if (!page_token.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                     request::DecodePageToken(page_token, identity));
    if (parts.size() != 1) return InvalidArgument("invalid page token");
    after_id = parts[0];
  }
  CollectionIds ids(view, parent, after_id);
  request::CollectionIdPage page;
  while (true) {
    RETURN_IF_ERROR(view.Pause());
    ASSIGN_OR_RETURN(std::optional<std::string> id, ids.Next());
    if (!id) return page;
    if (page.collection_ids.size() >= page_size) {
      page.next_page_token = request::EncodePageToken(identity, {page.collection_ids.back()});
      return page;
    }
    page.collection_ids.push_back(*std::move(id));
  }
}

}  // namespace hearth::engine
