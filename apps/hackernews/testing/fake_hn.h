#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "http/plain.h"
#include "http/server.h"

namespace hearth::hackernews {

// A scripted Hacker News over real HTTP on a free port: the API below /hn, and the site below
// /hn-site, where every password is "secret".
//
// Threads: safe for concurrent use.
class FakeHn final : public http::Service {
 public:
  FakeHn();
  ~FakeHn() override;

  std::string url() const;

  // Adds a story to the new ones; its title is "Story ID".
  void AddStory(int64_t id, int64_t time_ms, int64_t score) EXCLUDES_LOCK(mutex_);
  // Sets an item that is not listed as new, with any content.
  void SetItem(int64_t id, nlohmann::json item) EXCLUDES_LOCK(mutex_);
  // The response of newstories, instead of the added stories.
  void SetNewStories(nlohmann::json answer) EXCLUDES_LOCK(mutex_);
  // Answers every request with this status from now on; 0: normally.
  void AnswerAllWith(int status) EXCLUDES_LOCK(mutex_);
  // The same for one item.
  void AnswerItemWith(int64_t id, int status) EXCLUDES_LOCK(mutex_);

  // The ids of requested items, in order.
  std::vector<int64_t> asked_items() const EXCLUDES_LOCK(mutex_);
  void ForgetAsked() EXCLUDES_LOCK(mutex_);
  size_t sign_ins() const EXCLUDES_LOCK(mutex_);

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

 private:
  http::PlainAnswer Answer(std::string_view path, std::string_view body) EXCLUDES_LOCK(mutex_);
  http::PlainAnswer AnswerItem(int64_t id) REQUIRES_LOCK(mutex_);
  http::PlainAnswer AnswerSignIn(std::string_view body) REQUIRES_LOCK(mutex_);

  const http::PlainHandler handler_;
  mutable Mutex mutex_;  // Leaf lock.
  std::map<int64_t, nlohmann::json> items_ GUARDED_BY(mutex_);
  std::vector<int64_t> new_stories_ GUARDED_BY(mutex_);
  std::optional<nlohmann::json> new_stories_answer_ GUARDED_BY(mutex_);
  int status_ GUARDED_BY(mutex_) = 0;
  std::map<int64_t, int> item_statuses_ GUARDED_BY(mutex_);
  std::vector<int64_t> asked_ GUARDED_BY(mutex_);
  size_t sign_ins_ GUARDED_BY(mutex_) = 0;
  std::unique_ptr<http::Server> server_;  // Last: its threads use the rest.
};

}  // namespace hearth::hackernews
