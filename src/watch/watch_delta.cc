#include "watch/watch_delta.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "model/document.h"
#include "query/matcher.h"

namespace hearth::watch {

using Reason = request::DocumentGoneEvent::Reason;

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
  const auto& paths = std::get<DocumentSet>(*target);
  return std::ranges::find(paths, path) != paths.end();
}

WatchMessages::Document& WatchMessages::For(const model::DocumentPath& path,
                                            const model::Record& record) {
  return documents_.try_emplace(path.path(), Document{path, record, {}, {}, {}}).first->second;
}

void WatchMessages::Enter(const model::DocumentPath& path, const model::Record& record,
                          const TargetState& target) {
  Document& document = For(path, record);
  document.record = record;  // An earlier Leave may have set an empty record.
  if (target.mask) {
    document.masked.push_back(&target);
  } else {
    document.targets.push_back(target.id);
  }
}

void WatchMessages::Leave(const model::DocumentPath& path, const model::Record& record,
                          const TargetState& target) {
  For(path, record).removed.push_back(target.id);
}

void WatchMessages::SendTo(WatchSink& sink, model::Timestamp through) const {
  static const std::optional<std::vector<model::FieldPath>> kNoMask;
  for (const auto& [path, document] : documents_) {
    for (const TargetState* target : document.masked) {
      sink.Send(request::DocumentEvent{document.path, document.record, target->mask, {target->id}});
    }
    if (!document.targets.empty()) {
      sink.Send(request::DocumentEvent{document.path, document.record, kNoMask, document.targets,
                                       document.removed});
    } else if (!document.removed.empty()) {
      const Reason reason = document.record ? Reason::kNoMatch : Reason::kDeleted;
      sink.Send(request::DocumentGoneEvent{reason, path, document.removed, through});
    }
  }
}

void WatchDelta::Add(TargetState& target, const Change& change) {
  Document& document =
      documents_.try_emplace(change.path.path(), Document{change.path, nullptr, {}}).first->second;
  document.after = change.after;
  document.before.try_emplace(&target, change.before);
}

Status WatchDelta::Resolve(const Refill& refill, WatchMessages* messages) const {
  std::map<request::TargetId, std::pair<TargetState*, std::vector<const Document*>>> windows;
  for (const auto& [path, document] : documents_) {
    for (const auto& [target, before] : document.before) {
      if (target->window) {
        windows[target->id].first = target;
        windows[target->id].second.push_back(&document);
      } else if (target->Holds(document.path, document.after)) {
        messages->Enter(document.path, document.after, *target);
      } else if (target->Holds(document.path, before)) {
        messages->Leave(document.path, document.after, *target);
      }
    }
  }
  for (const auto& [id, window] : windows) {
    RETURN_IF_ERROR(ResolveWindow(*window.first, window.second, refill, messages));
  }
  return Status();
}

Status WatchDelta::ResolveWindow(TargetState& target, const std::vector<const Document*>& documents,
                                 const Refill& refill, WatchMessages* messages) const {
  const std::set<std::string> before = target.window->Visible();
  ResultWindow::Changes changes;
  for (const Document* document : documents) {
    changes.emplace_back(&document->path, document->after);
  }
  std::map<std::string, model::Record> refilled;
  if (!target.window->Apply(changes)) {
    ASSIGN_OR_RETURN(refilled, refill(target, before));
  }
  const std::set<std::string> after = target.window->Visible();
  std::set<std::string> changed;
  for (const Document* document : documents) {
    const std::string& path = document->path.path();
    changed.insert(path);
    if (after.contains(path)) {
      messages->Enter(document->path, document->after, target);
    } else if (before.contains(path)) {
      messages->Leave(document->path, document->after, target);
    }
  }
  // Documents that other documents let in or pushed out.
  for (const std::string& path : after) {
    if (changed.contains(path) || before.contains(path)) continue;
    ASSIGN_OR_RETURN(const model::DocumentPath parsed, model::DocumentPath::Parse(path));
    messages->Enter(parsed, refilled.at(path), target);
  }
  for (const std::string& path : before) {
    if (changed.contains(path) || after.contains(path)) continue;
    ASSIGN_OR_RETURN(const model::DocumentPath parsed, model::DocumentPath::Parse(path));
    // It still exists, or it would have changed. Its contents do not matter.
    messages->Leave(parsed, std::make_shared<const std::string>(), target);
  }
  return Status();
}

}  // namespace hearth::watch
