#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "execution/sort_key.h"
#include "model/names.h"
#include "model/record.h"
#include "watch/live_query.h"

namespace hearth::watch {

// The results of a query with a limit or an offset, kept up to date as documents change: the places
// and paths of the first `offset + limit` results, not their contents.
//
// While fewer documents match than that, the window holds all of them. Otherwise nothing is known
// about the results after the last one; once a result is removed, the query has to run again.
//
// Threads: one at a time. Ownership: borrows the query.
class ResultWindow {
 public:
  explicit ResultWindow(const LiveQuery& query);

  // Starts over; Append then adds the results in order from the first, including those in the
  // offset, at most `capacity()` of them.
  void Clear();
  void Append(const model::DocumentPath& path, const model::Record& record);
  size_t capacity() const { return capacity_; }

  // Applies the newest states of changed documents. Returns false if the query has to run again;
  // the window is unusable until then.
  using Changes = std::vector<std::pair<const model::DocumentPath*, model::Record>>;
  [[nodiscard]] bool Apply(const Changes& changes);

  // The paths of the results beyond the offset.
  std::set<std::string> Visible() const;

 private:
  struct Before {
    bool backward;
    bool operator()(const std::string& left, const std::string& right) const {
      return backward ? right < left : left < right;
    }
  };

  void Erase(const std::string& path);

  const LiveQuery& query_;
  const size_t offset_;
  const size_t capacity_;
  std::map<std::string, std::string, Before> paths_by_place_;
  std::unordered_map<std::string, std::string> places_by_path_;
};

}  // namespace hearth::watch
