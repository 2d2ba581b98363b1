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

// The results of a query with a limit or an offset, kept up as documents change: the places and
// paths of the first `offset + limit` of them, not their contents.
//
// While fewer documents match than that, all of them are here. Else nothing is known of what comes
// after the last one; once something is taken away, the query has to be asked again.
//
// Threads: one at a time. Ownership: borrows the query.
class ResultWindow {
 public:
  explicit ResultWindow(const LiveQuery& query);

  // Starts anew; Append then adds the results in order, from the first, those in the offset
  // included, at most `capacity()` of them.
  void Clear();
  void Append(const model::DocumentPath& path, const model::Record& record);
  size_t capacity() const { return capacity_; }

  // Takes in the newest states of documents that have changed. False when the query has to be
  // asked again; the window is of no use until then.
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
