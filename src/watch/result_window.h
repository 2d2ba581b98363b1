#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "execution/sort_key.h"
#include "model/names.h"
#include "model/record.h"
#include "watch/live_query.h"
#include "watch/watch_memory.h"

namespace hearth::watch {

// The results of a query with a limit or an offset, kept up to date as documents change: the places
// and paths of the first `offset + limit` results, not their contents.
//
// While fewer documents match than that, the window holds all of them. Otherwise nothing is known
// about the results after the last one; once a result is removed, the query has to run again.
//
// Threads: one at a time. Ownership: borrows the query. Errors: each entry is charged to the
// window's memory; without it the window is incomplete, and unusable.
class ResultWindow {
 public:
  explicit ResultWindow(const LiveQuery& query, WatchMemory memory = WatchMemory());

  // Adds the results of the query to a new window, in order from the first, including those in the
  // offset, at most `capacity()` of them. False if there is no memory for it.
  [[nodiscard]] bool Append(const model::DocumentPath& path, const model::Record& record);
  size_t capacity() const { return capacity_; }

  enum class Outcome : uint8_t {
    kApplied,
    kRunAgain,  // The window is useless, except that it still shows the unchanged documents.
    kNoMemory,
  };
  // Applies the newest states of changed documents. Adds the paths of other results that they
  // pushed out to `pushed_out`.
  using Changes = std::vector<std::pair<const model::DocumentPath*, model::Record>>;
  [[nodiscard]] Outcome Apply(const Changes& changes, std::vector<std::string>* pushed_out);

  // Whether the document is a result beyond the offset.
  bool Shows(const std::string& path) const;
  // The paths of all of these, in order; valid until the window changes.
  std::vector<std::string_view> Visible() const;

 private:
  struct Before {
    bool backward;
    bool operator()(const std::string& left, const std::string& right) const {
      return backward ? right < left : left < right;
    }
  };

  [[nodiscard]] bool Insert(const std::string& path, std::string place);
  void Erase(const std::string& path);

  const LiveQuery& query_;
  const size_t offset_;
  const size_t capacity_;
  WatchMemory memory_;
  std::map<std::string, std::string, Before> paths_by_place_;
  std::unordered_map<std::string, std::string> places_by_path_;
  // With an offset: the place of the first result beyond it. Such a window is never changed.
  std::optional<std::string> first_visible_;
};

}  // namespace hearth::watch
