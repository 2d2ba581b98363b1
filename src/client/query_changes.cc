#include "client/query_changes.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace hearth::client {
namespace {

using Kind = DocumentChange::Kind;
std::unordered_map<std::string_view, size_t> IndexByPath(
    const std::vector<DocumentSnapshot>& documents) {
  std::unordered_map<std::string_view, size_t> indexes;
  indexes.reserve(documents.size());
  for (size_t i = 0; i < documents.size(); ++i) indexes[documents[i].path().path()] = i;
  return indexes;
}

// Computes the changes. Documents are identified by their index in `after`; removed ones are not
// included.
class Comparison {
 public:
  Comparison(const std::vector<DocumentSnapshot>& before,
             const std::vector<DocumentSnapshot>& after)
      : before_(before), after_(after) {
    const auto before_by_path = IndexByPath(before);
    for (const DocumentSnapshot& document : after) {
      const auto found = before_by_path.find(document.path().path());
      before_index_.push_back(found == before_by_path.end() ? DocumentChange::kNowhere
                                                            : found->second);
    }
    FindThoseInPlace();
  }

  std::vector<DocumentChange> Run() {
    Remove();
    Add();
    Modify();
    return std::move(changes_);
  }

 private:
  bool IsNew(size_t i) const { return before_index_[i] == DocumentChange::kNowhere; }
  bool IsModified(size_t i) const {
    return !IsNew(i) && before_[before_index_[i]].update_time() != after_[i].update_time();
  }

  // A modified document has moved unless it stands between the same unmodified documents as before.
  // Unmodified documents never swap places.
  void FindThoseInPlace() {
    is_in_place_.assign(after_.size(), false);
    std::vector<size_t> limit(after_.size(), before_.size());  // Index of the next unmodified one.
    for (size_t i = after_.size(), next = before_.size(); i-- > 0;) {
      limit[i] = next;
      if (!IsNew(i) && !IsModified(i)) next = std::min(next, before_index_[i]);
    }
    size_t passed = 0;  // Everything before this index of `before_` has been passed.
    for (size_t i = 0; i < after_.size(); ++i) {
      if (IsNew(i) || before_index_[i] < passed || before_index_[i] >= limit[i]) continue;
      is_in_place_[i] = true;
      passed = before_index_[i] + 1;
    }
  }

  void Remove() {
    std::vector<size_t> stays(before_.size(), DocumentChange::kNowhere);
    for (size_t i = 0; i < after_.size(); ++i) {
      if (!IsNew(i)) stays[before_index_[i]] = i;
    }
    for (size_t i = 0; i < before_.size(); ++i) {
      if (stays[i] == DocumentChange::kNowhere) {
        changes_.push_back({Kind::kRemoved, before_[i], list_.size(), DocumentChange::kNowhere});
      } else {
        list_.push_back(stays[i]);
      }
    }
  }

  // Documents in place and added documents have the same order in the list and in `after_`.
  void Add() {
    std::vector<size_t> list;
    auto next = list_.begin();
    for (size_t i = 0; i < after_.size(); ++i) {
      if (IsNew(i)) {
        changes_.push_back({Kind::kAdded, after_[i], DocumentChange::kNowhere, list.size()});
        list.push_back(i);
      } else if (is_in_place_[i]) {
        const auto end = std::find(next, list_.end(), i) + 1;
        list.insert(list.end(), next, end);
        next = end;
      }
    }
    list.insert(list.end(), next, list_.end());
    list_ = std::move(list);
  }

  void Modify() {
    const bool nothing_moved = std::is_sorted(list_.begin(), list_.end());
    for (size_t i = 0; i < after_.size(); ++i) {
      if (!IsModified(i)) continue;
      if (nothing_moved) {
        changes_.push_back({Kind::kModified, after_[i], i, i});
        continue;
      }
      const auto at = std::find(list_.begin(), list_.end(), i);
      const auto old_index = static_cast<size_t>(at - list_.begin());
      list_.erase(at);
      // Right after its predecessor, which is already placed.
      auto place = list_.begin();
      if (i > 0) place = std::find(list_.begin(), list_.end(), i - 1) + 1;
      const auto new_index = static_cast<size_t>(place - list_.begin());
      list_.insert(place, i);
      changes_.push_back({Kind::kModified, after_[i], old_index, new_index});
    }
  }

  const std::vector<DocumentSnapshot>& before_;
  const std::vector<DocumentSnapshot>& after_;
  std::vector<size_t> before_index_;  // For each in `after_`.
  std::vector<bool> is_in_place_;     // For each in `after_`.
  std::vector<size_t> list_;          // The list with the changes so far applied.
  std::vector<DocumentChange> changes_;
};

}  // namespace

std::vector<DocumentChange> ChangesBetween(const std::vector<DocumentSnapshot>& before,
                                           const std::vector<DocumentSnapshot>& after) {
  return Comparison(before, after).Run();
}

}  // namespace hearth::client
