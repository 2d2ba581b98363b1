#include "kit/outbound/http_transfer.h"

#include <curl/curl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "kit/outbound/address_guard.h"

namespace hearth::kit {
namespace {

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

// Filled in by the callbacks of one exchange.
struct Exchange {
  HttpResponse response;
  size_t head_bytes = 0;
  size_t body_bytes_max = 0;
  PrivateAddresses addresses = PrivateAddresses::kRefused;
  bool is_too_large = false;
  bool was_address_refused = false;
};

size_t OnHeader(char* bytes, size_t, size_t count, void* user) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  const std::string_view line(bytes, count);
  if (line.starts_with("HTTP/")) {  // A new head: the previous one was "100 Continue".
    exchange.response.headers.clear();
    exchange.head_bytes = 0;
  }
  exchange.head_bytes += count;
  if (exchange.head_bytes > HttpTransfer::kHeadBytesMax) {
    exchange.is_too_large = true;
    return 0;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return count;
  std::string name(Trim(line.substr(0, colon), kWhitespace));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  exchange.response.headers.emplace_back(std::move(name),
                                         Trim(line.substr(colon + 1), kWhitespace));
  return count;
}

size_t OnBody(char* bytes, size_t, size_t count, void* user) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  std::string& body = exchange.response.body;
  if (count > exchange.body_bytes_max - body.size()) {
    exchange.is_too_large = true;
    return 0;
  }
  body.append(bytes, count);
  return count;
}

// The address is known only here: a name may resolve to anything, and to something else a moment
// later.
curl_socket_t OnOpenSocket(void* user, curlsocktype, curl_sockaddr* address) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  if (exchange.addresses == PrivateAddresses::kRefused &&
      !IsPublicAddress(address->addr, address->addrlen)) {
    exchange.was_address_refused = true;
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

HeaderList MakeHeaders(const HttpRequest& request) {
  HeaderList list;
  const auto add = [&list](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    CHECK(longer != nullptr);
    if (list == nullptr) list.reset(longer);
  };
  bool has_content_type = false;
  for (const auto& [name, value] : request.headers) {
    // libcurl's syntax for a header without a value.
    add(value.empty() ? name + ";" : name + ": " + value);
    has_content_type |= name.size() == 12 && strncasecmp(name.c_str(), "content-type", 12) == 0;
  }
  if (!has_content_type) add("Content-Type:");  // Otherwise libcurl sends a form's content type.
  add("Expect:");                               // Saves a round trip.
  return list;
}

void SetMethod(CURL* easy, const HttpRequest& request) {
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request.method == "GET" && request.body.empty()) return;
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
      request.method == "PATCH") {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void SetOptions(CURL* easy, const OutboundUrl& url, const TransferLimits& limits,
                Exchange& exchange) {
  curl_easy_reset(easy);  // Keeps the connections.
  curl_easy_setopt(easy, CURLOPT_URL, url.text.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  // Curl 7.88 may sleep although it has unread HTTP/2 bytes buffered.
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_PROXY, "");  // Not even one from the environment.
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // Does not wait for a pending name resolution.
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_USERAGENT, limits.user_agent.c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(limits.connect_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(limits.timeout.count()));
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, OnOpenSocket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &exchange);
}

Status ErrorOf(CURLcode code, const Exchange& exchange, const OutboundUrl& url,
               const TransferLimits& limits) {
  const std::string host = url.host_port + ": ";
  if (exchange.is_too_large) {
    return Status(Code::kResourceExhausted, host + "the answer is larger than " +
                                                std::to_string(limits.response_bytes_max) +
                                                " bytes, or its head is");
  }
  if (exchange.was_address_refused) {
    return Status(Code::kPermissionDenied, host + "its address is not on the public internet");
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return Status(Code::kDeadlineExceeded, host + "no complete answer in time");
  }
  return Status(Code::kUnavailable, host + curl_easy_strerror(code));
}

void InitialiseLibrary() {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(initialised == CURLE_OK);
}

}  // namespace

// An easy handle cannot be woken by itself; its own multi handle can.
struct HttpTransfer::Handles {
  Handles() {
    InitialiseLibrary();
    multi = curl_multi_init();
    easy = curl_easy_init();
    CHECK(multi != nullptr && easy != nullptr);
  }
  ~Handles() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }

  // nullopt when stopped.
  std::optional<CURLcode> Run(const std::atomic<bool>& stopping) {
    curl_multi_add_handle(multi, easy);
    std::optional<CURLcode> result;
    while (!stopping) {
      int running = 0;
      if (curl_multi_perform(multi, &running) != CURLM_OK) result = CURLE_OUT_OF_MEMORY;
      int queued = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi, &queued)) {
        if (message->msg == CURLMSG_DONE) result = message->data.result;
      }
      if (result) break;
      curl_multi_poll(multi, nullptr, 0, 1'000, nullptr);
    }
    curl_multi_remove_handle(multi, easy);
    return result;
  }

  CURLM* multi;
  CURL* easy;
};

HttpTransfer::HttpTransfer() : handles_(std::make_unique<Handles>()) {}
HttpTransfer::~HttpTransfer() = default;

Result<HttpResponse> HttpTransfer::Perform(const HttpRequest& request, const OutboundUrl& url,
                                           PrivateAddresses addresses, const TransferLimits& limits,
                                           const std::atomic<bool>& stopping) {
  Exchange exchange;
  exchange.body_bytes_max = limits.response_bytes_max;
  exchange.addresses = addresses;
  CURL* easy = handles_->easy;
  SetOptions(easy, url, limits, exchange);
  SetMethod(easy, request);
  const HeaderList headers = MakeHeaders(request);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  const std::optional<CURLcode> code = handles_->Run(stopping);
  if (!code) return Status(Code::kCancelled, url.host_port + ": stopped");
  if (*code != CURLE_OK) return ErrorOf(*code, exchange, url, limits);
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  exchange.response.status = static_cast<int>(status);
  exchange.response.url = url.text;
  return std::move(exchange.response);
}

void HttpTransfer::Wake() { curl_multi_wakeup(handles_->multi); }

}  // namespace hearth::kit
