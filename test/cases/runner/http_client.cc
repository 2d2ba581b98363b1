#include "cases/runner/http_client.h"

#include <chrono>
#include <utility>

#include "base/check.h"
#include "cases/runner/rpc.h"

namespace hearth::cases {

HttpTransfer::HttpTransfer(CURLM* multi, HttpRequest request)
    : multi_(multi), easy_(curl_easy_init()), request_(std::move(request)) {
  CHECK(easy_ != nullptr);
  for (const std::string& header : request_.headers) {
    headers_ = curl_slist_append(headers_, header.c_str());
  }
  // curl would wait for a "100 Continue" before it sends a large body.
  headers_ = curl_slist_append(headers_, "Expect:");
  curl_easy_setopt(easy_, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_PROXY, "");
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  if (request_.method == "POST" || request_.method == "PATCH") {
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body.c_str());
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body.size()));
  }
  CHECK(curl_multi_add_handle(multi_, easy_) == CURLM_OK);
}

HttpTransfer::~HttpTransfer() {
  curl_multi_remove_handle(multi_, easy_);
  curl_easy_cleanup(easy_);
  curl_slist_free_all(headers_);
}

size_t HttpTransfer::OnBody(char* data, size_t size, size_t count, void* self) {
  static_cast<HttpTransfer*>(self)->body_.append(data, size * count);
  return size * count;
}

long HttpTransfer::http_status() const {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

HttpClient::HttpClient() : multi_(curl_multi_init()) { CHECK(multi_ != nullptr); }

HttpClient::~HttpClient() { curl_multi_cleanup(multi_); }

std::unique_ptr<HttpTransfer> HttpClient::Start(HttpRequest request) {
  auto transfer = std::make_unique<HttpTransfer>(multi_, std::move(request));
  Poll();
  return transfer;
}

void HttpClient::Poll() {
  int running = 0;
  curl_multi_perform(multi_, &running);
  int queued = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &queued)) {
    if (message->msg != CURLMSG_DONE) continue;
    HttpTransfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    transfer->is_done_ = true;
    if (message->data.result != CURLE_OK) {
      transfer->error_ = curl_easy_strerror(message->data.result);
    }
  }
}

bool HttpClient::Until(const std::function<bool()>& met) {
  constexpr int kPollMs = 1'000;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (Poll(); !met(); Poll()) {
    if (std::chrono::steady_clock::now() > end) return false;
    curl_multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
  }
  return true;
}

}  // namespace hearth::cases
