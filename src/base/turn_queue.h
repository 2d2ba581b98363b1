#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/connected_client.h"

namespace hearth {

// A queue in which clients take turns: the items of one client leave in order of arrival, and after
// each of them the next client has its turn. A client with thousands of items delays a client with
// one by one item. `Key`: what a client is known by.
//
// Threads: one at a time; callers guard it.
template <typename T, typename Key = ClientKey>
class TurnQueue {
 public:
  void Push(Key client, T item) {
    QueueOf(client).push_back(std::move(item));
    ++size_;
  }
  // Before the client's other items, but not before its turn.
  void PushFront(Key client, T item) {
    QueueOf(client).push_front(std::move(item));
    ++size_;
  }

  // The client whose turn it is, and its item. The queue must not be empty.
  Key NextClient() const { return turns_.front()->first; }
  T Pop() {
    CHECK(size_ > 0);
    Entry* const entry = turns_.front();
    turns_.pop_front();
    T item = std::move(entry->second.front());
    entry->second.pop_front();
    --size_;
    if (entry->second.empty()) {
      Remove(entry->first);
    } else {
      turns_.push_back(entry);
    }
    return item;
  }

  // Takes out an item before its turn. It must be in the queue. Costs time in proportion to the
  // client's items and to the number of clients.
  void Remove(Key client, const T& item) {
    const auto found = queues_.find(client);
    CHECK(found != queues_.end());
    std::deque<T>& items = found->second;
    const auto position = std::find(items.begin(), items.end(), item);
    CHECK(position != items.end());
    items.erase(position);
    --size_;
    if (!items.empty()) return;
    turns_.erase(std::find(turns_.begin(), turns_.end(), &*found));
    Remove(client);
  }

  // Lets the next client go first. The queue must not be empty.
  void Skip() {
    turns_.push_back(turns_.front());
    turns_.pop_front();
  }

  bool empty() const { return size_ == 0; }
  // The clients that have items.
  size_t clients() const { return turns_.size(); }
  size_t size() const { return size_; }
  // The items of one client; null if it has none.
  const std::deque<T>* Of(Key client) const {
    const auto found = queues_.find(client);
    return found == queues_.end() ? nullptr : &found->second;
  }
  size_t size_of(Key client) const {
    const std::deque<T>* const items = Of(client);
    return items == nullptr ? 0 : items->size();
  }

 private:
  using Queues = std::unordered_map<Key, std::deque<T>>;
  using Entry = typename Queues::value_type;
  // Queues of absent clients that are kept, because a client usually comes back soon.
  static constexpr size_t kSpareMax = 32;

  std::deque<T>& QueueOf(Key client) {
    auto found = queues_.find(client);
    if (found == queues_.end()) {
      found = Add(client);
      turns_.push_back(&*found);
    }
    return found->second;
  }
  typename Queues::iterator Add(Key client) {
    if (spare_.empty()) return queues_.try_emplace(client).first;
    typename Queues::node_type node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = client;
    return queues_.insert(std::move(node)).position;
  }
  void Remove(Key client) {
    typename Queues::node_type node = queues_.extract(client);
    if (spare_.size() < kSpareMax) spare_.push_back(std::move(node));
  }

  Queues queues_;             // Without empty ones. Entries stay where they are.
  std::deque<Entry*> turns_;  // Each client with items, once.
  std::vector<typename Queues::node_type> spare_;
  size_t size_ = 0;
};

}  // namespace hearth
