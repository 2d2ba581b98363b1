#pragma once

#include <curl/curl.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hearth::cases {

struct HttpRequest {
  std::string method;
  std::string url;
  std::vector<std::string> headers = {};  // "name: value"
  std::string body = {};
};

// One request and the part of its answer that has arrived. The destructor cancels it.
class HttpTransfer {
 public:
  HttpTransfer(CURLM* multi, HttpRequest request);
  ~HttpTransfer();
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  bool is_done() const { return is_done_; }
  // For a finished transfer: the error below HTTP; empty if there was none.
  const std::string& error() const { return error_; }
  long http_status() const;
  std::string& body() { return body_; }

 private:
  friend class HttpClient;
  static size_t OnBody(char* data, size_t size, size_t count, void* self);

  CURLM* const multi_;
  CURL* const easy_;
  const HttpRequest request_;
  curl_slist* headers_ = nullptr;
  std::string body_;
  std::string error_;
  bool is_done_ = false;
};

// HTTP/1.1 over reused connections; several requests at a time.
//
// Threads: one at a time; data is transferred only inside Until and Poll.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  std::unique_ptr<HttpTransfer> Start(HttpRequest request);
  // Transfers data until `met` holds; false at the time limit.
  bool Until(const std::function<bool()>& met);
  // Transfers what is possible without waiting.
  void Poll();

 private:
  CURLM* const multi_;
};

}  // namespace hearth::cases
