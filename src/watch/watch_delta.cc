#include "watch/watch_delta.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>

#include "base/status_macros.h"
#include "model/document.h"
#include "query/matcher.h"

namespace hearth::watch {
namespace {

using Fate = WatchMessages::Fate;
using Reason = request::DocumentGoneEvent::Reason;

// A message about a document, beside its record.
constexpr size_t kEachMessageBytes = 256;

Fate FateOf(const model::Record& record) { return record ? Fate::kExists : Fate::kDeleted; }

}  // namespace

bool IsSameState(const model::Record& left, const model::Record& right) {
  if (!left || !right) return !left && !right;
  return model::RecordUpdateTime(*left) == model::RecordUpdateTime(*right);
}

const LiveQuery* TargetState::query() const {
  const auto* live = std::get_if<std::unique_ptr<const LiveQuery>>(target.get());
  return live ? live->get() : nullptr;
}

bool TargetState::Holds(const model::DocumentPath& path, const model::Record& record) const {
  return query() ? query()->Contains(path, record) : record != nullptr;
}

bool TargetState::IsConcernedBy(const Change& change) const {
  return query() ? query()->IsConcernedBy(change) : Reads(change.path);
}

bool TargetState::Reads(const model::DocumentPath& path) const {
  if (query()) return query::IsInScope(query()->query().query, path);
  const auto& documents = std::get<DocumentSet>(*target);
  return std::ranges::binary_search(
      documents_by_path, path, std::less<>(),
      [&](uint32_t place) -> const model::DocumentPath& { return documents[place]; });
}

void TargetState::SortDocuments() {
  const auto* documents = std::get_if<DocumentSet>(target.get());
  if (!documents) return;
  documents_by_path.resize(documents->size());
  std::iota(documents_by_path.begin(), documents_by_path.end(), 0);
  std::ranges::sort(
      documents_by_path, std::less<>(),
      [&](uint32_t place) -> const model::DocumentPath& { return (*documents)[place]; });
}

WatchMessages::Document& WatchMessages::For(const model::DocumentPath& path) {
  return documents_.try_emplace(path.path(), Document{path}).first->second;
}

void WatchMessages::Enter(const model::DocumentPath& path, const model::Record& record,
                          const TargetState& target) {
  Document& document = For(path);
  document.record = record;
  if (*target.mask) {
    document.masked[target.mask.get()].push_back(target.id);
  } else {
    document.targets.push_back(target.id);
  }
}

void WatchMessages::Leave(const model::DocumentPath& path, Fate fate, const TargetState& target) {
  Document& document = For(path);
  document.exists = fate == Fate::kExists;
  document.removed.push_back(target.id);
}

bool WatchMessages::SendSome(WatchSink& sink, model::Timestamp through) {
  static const Mask kNoMask;
  while (!documents_.empty()) {
    Document& document = documents_.begin()->second;
    while (!document.masked.empty()) {
      if (sink.IsFull()) return false;
      const auto group = document.masked.begin();
      sink.Send(request::DocumentEvent{document.path, document.record, *group->first,
                                       std::move(group->second)});
      document.masked.erase(group);
    }
    if (sink.IsFull()) return false;
    if (!document.targets.empty()) {
      sink.Send(request::DocumentEvent{document.path, document.record, kNoMask,
                                       std::move(document.targets), std::move(document.removed)});
    } else if (!document.removed.empty()) {
      const Reason reason = document.exists ? Reason::kNoMatch : Reason::kDeleted;
      sink.Send(request::DocumentGoneEvent{reason, document.path.path(),
                                           std::move(document.removed), through});
    }
    documents_.erase(documents_.begin());
  }
  return true;
}

void WatchDelta::Add(TargetState& target, const Change& change) {
  Document& document =
      documents_.try_emplace(change.path.path(), Document{change.path, nullptr, {}}).first->second;
  document.after = change.after;
  document.before.try_emplace(&target, change.before);
}

Status WatchDelta::Resolve(const ResolveMeans& means, ResolvedDelta* resolved) const {
  std::map<request::TargetId, std::pair<TargetState*, Documents>> windows;
  for (const auto& [path, document] : documents_) {
    for (const auto& [target, before] : document.before) {
      RETURN_IF_ERROR(means.pause());
      if (target->window) {
        windows[target->id].first = target;
        windows[target->id].second.push_back(&document);
      } else if (target->Holds(document.path, document.after)) {
        resolved->messages.Enter(document.path, document.after, *target);
      } else if (target->Holds(document.path, before)) {
        resolved->messages.Leave(document.path, FateOf(document.after), *target);
      }
    }
  }
  for (const auto& [id, window] : windows) {
    RETURN_IF_ERROR(ResolveWindow(*window.first, window.second, means, resolved));
  }
  return Status();
}

std::vector<bool> WatchDelta::Shown(const ResultWindow& window, const Documents& documents) {
  std::vector<bool> shown;
  for (const Document* document : documents) shown.push_back(window.Shows(document->path.path()));
  return shown;
}

// What a window that was read again finds.
class WatchDelta::Refill {
 public:
  // `was_shown`: by the window before the changes.
  Refill(TargetState& target, const Documents& documents, const std::vector<bool>& was_shown,
         const ResolveMeans& means, ResolvedDelta& resolved)
      : target_(target), means_(means), resolved_(resolved) {
    for (size_t i = 0; i < documents.size(); ++i) {
      changed_.insert(documents[i]->path.path());
      if (was_shown[i]) left_of_changed_.push_back(documents[i]);
    }
  }

  Status Run() {
    const auto visit = [this](const model::DocumentPath& path, const model::Record& record) {
      const bool is_known = !changed_.contains(path.path()) && target_.window->Shows(path.path());
      if (is_known) return true;
      if (!Hold(path.path().size() + record->size())) return false;
      entered_.emplace_back(path, record);
      return true;
    };
    ASSIGN_OR_RETURN(std::unique_ptr<ResultWindow> after, means_.refill(target_, visit));
    if (fits_ && after) RETURN_IF_ERROR(FindLeft(*after));
    if (!fits_) {
      means_.memory->Shrink(held_bytes_);
      resolved_.refill_bytes -= held_bytes_;
      resolved_.to_reset.push_back(target_.id);
    } else if (!after) {
      resolved_.to_end.push_back(target_.id);
    } else {
      target_.window = std::move(after);
      for (const auto& [path, record] : entered_) resolved_.messages.Enter(path, record, target_);
      for (const auto& [path, fate] : left_) resolved_.messages.Leave(path, fate, target_);
    }
    return Status();
  }

 private:
  bool Hold(size_t bytes) {
    bytes += kEachMessageBytes;
    fits_ = bytes <= means_.refill_bytes_max - resolved_.refill_bytes && means_.memory->Grow(bytes);
    if (!fits_) return false;
    held_bytes_ += bytes;
    resolved_.refill_bytes += bytes;
    return true;
  }

  Status FindLeft(const ResultWindow& after) {
    for (const Document* document : left_of_changed_) {
      if (after.Shows(document->path.path())) continue;
      left_.emplace_back(document->path, FateOf(document->after));
    }
    for (const std::string_view path : target_.window->Visible()) {
      RETURN_IF_ERROR(means_.pause());
      if (changed_.contains(path) || after.Shows(std::string(path))) continue;
      if (!Hold(path.size())) break;
      ASSIGN_OR_RETURN(model::DocumentPath parsed, model::DocumentPath::Parse(path));
      left_.emplace_back(std::move(parsed), Fate::kExists);  // Or it would have changed.
    }
    return Status();
  }

  TargetState& target_;
  const ResolveMeans& means_;
  ResolvedDelta& resolved_;
  std::set<std::string_view> changed_;
  Documents left_of_changed_;  // Unless they are shown again.
  bool fits_ = true;
  size_t held_bytes_ = 0;
  std::vector<std::pair<model::DocumentPath, model::Record>> entered_;
  std::vector<std::pair<model::DocumentPath, Fate>> left_;
};

Status WatchDelta::ResolveWindow(TargetState& target, const Documents& documents,
                                 const ResolveMeans& means, ResolvedDelta* resolved) {
  RETURN_IF_ERROR(means.pause());
  const std::vector<bool> was_shown = Shown(*target.window, documents);
  ResultWindow::Changes changes;
  for (const Document* document : documents) {
    changes.emplace_back(&document->path, document->after);
  }
  std::vector<std::string> pushed_out;
  switch (target.window->Apply(changes, &pushed_out)) {
    case ResultWindow::Outcome::kApplied:
      break;
    case ResultWindow::Outcome::kRunAgain:
      return Refill(target, documents, was_shown, means, *resolved).Run();
    case ResultWindow::Outcome::kNoMemory:
      resolved->to_end.push_back(target.id);
      return Status();
  }
  for (size_t i = 0; i < documents.size(); ++i) {
    const Document& document = *documents[i];
    if (target.window->Shows(document.path.path())) {
      resolved->messages.Enter(document.path, document.after, target);
    } else if (was_shown[i]) {
      resolved->messages.Leave(document.path, FateOf(document.after), target);
    }
  }
  for (const std::string& path : pushed_out) {
    ASSIGN_OR_RETURN(const model::DocumentPath parsed, model::DocumentPath::Parse(path));
    // It still exists, or it would have changed.
    resolved->messages.Leave(parsed, Fate::kExists, target);
  }
  return Status();
}

}  // namespace hearth::watch
