#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::transactions {

// Values by key prefix, any number per prefix. Finds the values whose prefixes meet a given key or
// prefix without visiting the others.
//
// Threads: synchronised by its owner. Iterators stay valid until their value is erased.
template <typename T>
class PrefixMap {
 public:
  using iterator = typename std::multimap<std::string, T, std::less<>>::iterator;

  iterator Insert(std::string prefix, T value) {
    return values_.emplace(std::move(prefix), std::move(value));
  }
  void Erase(iterator position) { values_.erase(position); }
  bool empty() const { return values_.empty(); }

  // Calls `visit` with each value of exactly this prefix.
  template <typename Visit>
  void VisitEqual(std::string_view prefix, const Visit& visit) const {
    for (auto position = values_.lower_bound(prefix);
         position != values_.end() && position->first == prefix; ++position) {
      visit(position->second);
    }
  }

  // Calls `visit` once with each different prefix of `key` that has values.
  template <typename Visit>
  void VisitDistinctPrefixesOf(std::string_view key, const Visit& visit) const {
    VisitPrefixPositions(key, [&](auto position) {
      visit(std::string_view(position->first));
      return values_.lower_bound(position->first);
    });
  }

  // Calls `visit` with each value whose prefix is a prefix of `key`, until it returns true; then
  // returns true itself.
  template <typename Visit>
  bool VisitPrefixesOf(std::string_view key, const Visit& visit) const {
    bool stops = false;
    VisitPrefixPositions(key, [&](auto position) {
      stops = visit(position->second);
      return stops ? values_.begin() : position;
    });
    return stops;
  }

  // The same for each value whose prefix starts with `prefix`, or is a prefix of it.
  template <typename Visit>
  bool VisitMeeting(std::string_view prefix, const Visit& visit) const {
    for (auto position = values_.upper_bound(prefix);
         position != values_.end() && position->first.starts_with(prefix); ++position) {
      if (visit(position->second)) return true;
    }
    return VisitPrefixesOf(prefix, visit);
  }

 private:
  // Calls `visit` with the position of a value whose prefix is a prefix of `key`, and goes on
  // before the position that it returns.
  template <typename Visit>
  void VisitPrefixPositions(std::string_view key, const Visit& visit) const {
    // All prefixes of the key sort before or with it. Other strings may lie between two of them. A
    // string that diverges from the key after `common` bytes sorts after all prefixes of the key up
    // to that length, and before all longer ones.
    auto position = values_.upper_bound(key);
    while (position != values_.begin()) {
      --position;
      const std::string_view prefix = position->first;
      if (key.starts_with(prefix)) {
        position = visit(position);
        continue;
      }
      const auto common = std::ranges::mismatch(key, prefix).in1 - key.begin();
      position = values_.upper_bound(key.substr(0, static_cast<size_t>(common)));
    }
  }

  std::multimap<std::string, T, std::less<>> values_;
};

}  // namespace hearth::transactions
