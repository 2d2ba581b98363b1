#include "cases/runner/watch_state.h"

#include <utility>

namespace hearth::cases {
namespace {

Status StatusOf(const google::rpc::Status& status) {
  return Status(static_cast<Code>(status.code()), status.message());
}

}  // namespace

void WatchState::Begin(int target_id, Results known) {
  TargetState state;
  state.snapshot = known;
  state.results = std::move(known);
  targets_[target_id] = std::move(state);
}

std::string WatchState::Short(const std::string& name) const {
  return name.starts_with(root_) ? name.substr(root_.size()) : name;
}

void WatchState::ApplyTargetChange(const proto::TargetChange& change) {
  for (auto& [id, target] : targets_) {
    bool concerns = change.target_ids().empty();
    for (const int each : change.target_ids()) concerns |= each == id;
    if (!concerns || target.removed) continue;
    if (!change.resume_token().empty()) target.resume_token = change.resume_token();
    if (change.target_change_type() == proto::TargetChange::RESET) {
      target.results.clear();
      target.is_current = false;
      target.messages.push_back("reset");
    } else if (change.target_change_type() == proto::TargetChange::CURRENT) {
      target.is_current = true;
    } else if (change.target_change_type() == proto::TargetChange::REMOVE) {
      target.removed = StatusOf(change.cause());
    } else if (change.target_ids().empty() && change.has_read_time() && target.is_current) {
      target.snapshot = target.results;
      target.snapshot_time = change.read_time();
    }
  }
}

void WatchState::ApplyGone(const std::string& name,
                           const google::protobuf::RepeatedField<int32_t>& targets,
                           const std::string& how) {
  for (const int id : targets) {
    targets_[id].results.erase(name);
    targets_[id].messages.push_back(how + " " + Short(name));
  }
}

void WatchState::Apply(const proto::ListenResponse& message) {
  if (message.has_target_change()) {
    ApplyTargetChange(message.target_change());
  } else if (message.has_document_change()) {
    const proto::DocumentChange& change = message.document_change();
    const std::string& name = change.document().name();
    for (const int id : change.target_ids()) {
      targets_[id].results[name] = change.document();
      targets_[id].messages.push_back("change " + Short(name));
    }
    ApplyGone(name, change.removed_target_ids(), "remove");
  } else if (message.has_document_delete()) {
    ApplyGone(message.document_delete().document(), message.document_delete().removed_target_ids(),
              "delete");
  } else if (message.has_document_remove()) {
    ApplyGone(message.document_remove().document(), message.document_remove().removed_target_ids(),
              "remove");
  } else if (message.has_filter()) {
    targets_[message.filter().target_id()].messages.push_back(
        "filter " + std::to_string(message.filter().count()));
  }
}

void WatchState::ApplySnapshot(int target_id, const std::vector<proto::Document>& documents,
                               const Time& read_time) {
  TargetState& target = targets_[target_id];
  target.results.clear();
  target.order.clear();
  for (const proto::Document& document : documents) {
    target.results[document.name()] = document;
    target.order.push_back(document.name());
  }
  target.is_current = true;
  target.snapshot = target.results;
  target.snapshot_time = read_time;
}

void WatchState::ApplyEnd(int target_id, const Status& why) {
  TargetState& target = targets_[target_id];
  if (!target.removed) target.removed = why;
}

void WatchState::ApplyEnd(const Status& why) {
  for (auto& [id, target] : targets_) {
    if (!target.removed) target.removed = why;
  }
}

}  // namespace hearth::cases
