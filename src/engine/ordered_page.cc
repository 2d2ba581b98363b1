#include "engine/ordered_page.h"

#include <iterator>
#include <utility>

#include "model/document.h"
#include "model/fields.h"
#include "model/value_order.h"

namespace hearth::engine {
namespace {

using model::DocumentPath;
using model::ValueView;

size_t RecordBytes(const request::ListedDocument& document) {
  return document.record ? document.record->size() : 0;
}

}  // namespace

OrderedPage::OrderedPage(const std::vector<query::Order>& orders, size_t page_size,
                         MemoryBudget* memory)
    : orders_(orders), page_size_(page_size), kept_(Less{this}), claim_(memory) {}

size_t OrderedPage::BytesOf(const Candidate& candidate) {
  size_t bytes = sizeof(Candidate) + candidate.key.size() + RecordBytes(candidate.document);
  for (const std::string& value : candidate.values) bytes += sizeof(value) + value.size();
  return bytes;
}

bool OrderedPage::HasMemory() {
  if (claim_.Reserve(kept_bytes_)) return true;
  if (kept_.size() > 1) return false;
  claim_.GrowAnyway(kept_bytes_ - claim_.bytes());
  return true;
}

bool OrderedPage::Less::operator()(const Candidate& left, const Candidate& right) const {
  bool is_descending = false;
  for (size_t i = 0; i < page->orders_.size(); ++i) {
    is_descending = page->orders_[i].direction == query::SortDirection::kDescending;
    const std::weak_ordering order =
        page->orders_[i].path.IsName()
            ? std::weak_ordering(left.key <=> right.key)
            : model::CompareValues(ValueView(left.values[i]), ValueView(right.values[i]));
    if (order != 0) return is_descending ? order > 0 : order < 0;
  }
  return is_descending ? left.key > right.key : left.key < right.key;
}

Status OrderedPage::StartAfter(std::vector<std::string> parts) {
  if (parts.size() != orders_.size() + 1) return InvalidArgument("invalid page token");
  for (size_t i = 0; i < orders_.size(); ++i) {
    if (orders_[i].path.IsName()) {
      if (!parts[i].empty()) return InvalidArgument("invalid page token");
      continue;
    }
    // The values come from a client: they are validated before they are read in place.
    Result<std::string> value = model::ValidateValue(std::move(parts[i]));
    if (!value.ok()) return InvalidArgument("invalid page token");
    parts[i] = *std::move(value);
  }
  Result<DocumentPath> path = DocumentPath::Parse(parts.back());
  if (!path.ok()) return InvalidArgument("invalid page token");
  parts.pop_back();
  after_ = Candidate{std::move(parts), {*std::move(path), nullptr}};
  return Status();
}

void OrderedPage::Add(request::ListedDocument document) {
  Candidate candidate{{}, std::move(document)};
  const auto fields =
      model::Fields::FromTrusted(std::string(model::RecordFields(*candidate.document.record)));
  for (const query::Order& order : orders_) {
    if (order.path.IsName()) {
      candidate.values.emplace_back();
      continue;
    }
    const std::optional<ValueView> value = fields.Find(order.path);
    if (!value) return;
    candidate.values.emplace_back(value->encoded());
  }
  const Less less = kept_.key_comp();
  if (after_ && !less(*after_, candidate)) return;
  if (first_dropped_ && !less(candidate, *first_dropped_)) return;
  record_bytes_ += RecordBytes(candidate.document);
  kept_bytes_ += BytesOf(candidate);
  kept_.insert(std::move(candidate));
  if (kept_.size() > page_size_) DropLast();
  while (record_bytes_ > kPageBytesMax && kept_.size() > 1) DropLast();
  while (!HasMemory()) DropLast();
}

void OrderedPage::DropLast() {
  first_dropped_ = std::move(kept_.extract(std::prev(kept_.end())).value());
  record_bytes_ -= RecordBytes(first_dropped_->document);
  kept_bytes_ -= BytesOf(*first_dropped_);
  first_dropped_->document.record.reset();
}

std::vector<std::string> OrderedPage::Finish(std::vector<request::ListedDocument>* documents) {
  std::vector<std::string> next;
  if (first_dropped_ && !kept_.empty()) {
    const Candidate& last = *std::prev(kept_.end());
    next = last.values;
    next.push_back(last.document.path.path());
  }
  while (!kept_.empty()) {
    documents->push_back(std::move(kept_.extract(kept_.begin()).value().document));
  }
  return next;
}

}  // namespace hearth::engine
