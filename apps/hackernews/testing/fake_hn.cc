#include "apps/hackernews/testing/fake_hn.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"

namespace hearth::hackernews {
namespace {

constexpr std::string_view kItemPrefix = "/hn/v0/item/";

http::PlainAnswer JsonAnswer(const nlohmann::json& json) {
  return {.content_type = "application/json", .body = json.dump()};
}

}  // namespace

FakeHn::FakeHn()
    : handler_([this](const std::shared_ptr<http::PlainCall>& call) {
        call->Respond(Answer(call->head().path(), call->body()));
      }) {
  http::ServerOptions options;
  options.listen = {{.host = "127.0.0.1", .port = 0}};
  options.loops = 1;
  server_ = std::make_unique<http::Server>(options, *this);
  CHECK(server_->Start().ok());
}

FakeHn::~FakeHn() { server_.reset(); }

std::string FakeHn::url() const {
  return "http://127.0.0.1:" + std::to_string(server_->addresses().front().port);
}

void FakeHn::AddStory(int64_t id, int64_t time_ms, int64_t score) {
  SetItem(id, {{"by", "author"},
               {"descendants", 3},
               {"id", id},
               {"kids", {id + 1, id + 2}},
               {"score", score},
               {"time", time_ms / 1'000},
               {"title", "Story " + std::to_string(id)},
               {"type", "story"},
               {"url", "https://site.example/" + std::to_string(id)}});
  MutexLock lock(mutex_);
  if (std::find(new_stories_.begin(), new_stories_.end(), id) == new_stories_.end()) {
    new_stories_.insert(new_stories_.begin(), id);
  }
}

void FakeHn::SetItem(int64_t id, nlohmann::json item) {
  MutexLock lock(mutex_);
  items_[id] = std::move(item);
}

void FakeHn::SetNewStories(nlohmann::json answer) {
  MutexLock lock(mutex_);
  new_stories_answer_ = std::move(answer);
}

void FakeHn::AnswerAllWith(int status) {
  MutexLock lock(mutex_);
  status_ = status;
}

void FakeHn::AnswerItemWith(int64_t id, int status) {
  MutexLock lock(mutex_);
  item_statuses_[id] = status;
}

std::vector<int64_t> FakeHn::asked_items() const {
  MutexLock lock(mutex_);
  return asked_;
}

void FakeHn::ForgetAsked() {
  MutexLock lock(mutex_);
  asked_.clear();
}

size_t FakeHn::sign_ins() const {
  MutexLock lock(mutex_);
  return sign_ins_;
}

std::shared_ptr<http::ExchangeHandler> FakeHn::Open(http::Exchange& exchange) {
  return http::OpenPlain(exchange, handler_, {});
}

http::PlainAnswer FakeHn::Answer(std::string_view path, std::string_view body) {
  MutexLock lock(mutex_);
  if (status_ != 0) return {.status = status_, .body = "as the test wants it"};
  if (path == "/hn-site/login") return AnswerSignIn(body);
  if (path == "/hn/v0/newstories.json") {
    return JsonAnswer(new_stories_answer_ ? *new_stories_answer_ : nlohmann::json(new_stories_));
  }
  if (!path.starts_with(kItemPrefix)) return {.status = 404, .body = "no such thing"};
  path.remove_prefix(kItemPrefix.size());
  int64_t id = 0;
  std::from_chars(path.data(), path.data() + path.size(), id);
  return AnswerItem(id);
}

http::PlainAnswer FakeHn::AnswerItem(int64_t id) {
  asked_.push_back(id);
  const auto status = item_statuses_.find(id);
  if (status != item_statuses_.end() && status->second != 0) return {.status = status->second};
  const auto item = items_.find(id);
  return JsonAnswer(item == items_.end() ? nlohmann::json() : item->second);
}

http::PlainAnswer FakeHn::AnswerSignIn(std::string_view body) {
  ++sign_ins_;
  if (body.find("&pw=secret&") == std::string_view::npos) return {.body = "Bad login."};
  return {.status = 302,
          .more_headers = {{"location", "news"}, {"set-cookie", "user=somebody&token; path=/"}}};
}

}  // namespace hearth::hackernews
