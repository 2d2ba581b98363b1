#include "client/remote/grpc_connection.h"

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "client/remote/grpc_answer.h"

namespace hearth::client {
namespace {

using std::chrono::milliseconds;

// Curl should wake up for everything that it waits for. Version 7.88 does not when it has read more
// from a socket than it has handed out, so it is polled: soon after bytes have moved, less often
// while none do.
constexpr int kPollMsMin = 1;
constexpr int kPollMsMax = 50;

void InitializeCurl() {
  static const CURLcode result = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(result == CURLE_OK);
}

// Curl 7.88 (Debian 12) starts a second HTTP/2 session on top of the first when it reuses a
// connection that is known in advance to speak HTTP/2 (curl's issue 10634).
bool ForgetsHttp2() { return curl_version_info(CURLVERSION_NOW)->version_num >> 8 == 0x0758; }

class HeaderList {
 public:
  ~HeaderList() { curl_slist_free_all(list_); }
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;

  void Add(const std::string& name, const std::string& value) {
    curl_slist* longer = curl_slist_append(list_, (name + ": " + value).c_str());
    CHECK(longer != nullptr);
    list_ = longer;
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

// gRPC allows eight digits.
std::string GrpcTimeout(milliseconds timeout) {
  constexpr int64_t kDigitsMax = 99'999'999;
  if (timeout.count() <= kDigitsMax) return std::to_string(timeout.count()) + "m";
  return std::to_string(std::min(timeout.count() / 1'000, kDigitsMax)) + "S";
}

// Bytes in both directions so far.
curl_off_t MovedBytes(CURL* easy) {
  curl_off_t received = 0;
  curl_off_t sent = 0;
  curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
  curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &sent);
  return received + sent;
}

Status StatusOf(CURLcode code, const char* detail) {
  const std::string text = *detail ? detail : curl_easy_strerror(code);
  if (code == CURLE_OPERATION_TIMEDOUT) return Status(Code::kDeadlineExceeded, text);
  return Status(Code::kUnavailable, text);
}

}  // namespace

// Curl's handles. The multi handle keeps the connection. It is used so that messages are handed out
// between curl's steps and not from within them.
struct GrpcConnection::Handles {
  Handles() : easy(curl_easy_init()), multi(curl_multi_init()) {
    CHECK(easy != nullptr && multi != nullptr);
  }
  ~Handles() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  template <typename T>
  void Set(CURLoption option, T value) {
    const CURLcode code = curl_easy_setopt(easy, option, value);
    CHECK(code == CURLE_OK);
  }

  CURL* easy;
  CURLM* multi;
  std::array<char, CURL_ERROR_SIZE> error{};
};

// The data that one call sends and receives.
struct GrpcConnection::Transfer {
  Transfer(size_t message_bytes_max, Connect how) : connect(how), answer(message_bytes_max) {}

  static curl_socket_t OpenSocket(void* self, curlsocktype, curl_sockaddr* address) {
    auto& transfer = *static_cast<Transfer*>(self);
    if (transfer.connect == Connect::kNever) {
      transfer.was_disconnected = true;
      return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }
  // Curl reads the body only once there is a connection. It cannot rewind it, so it does not repeat
  // a request on its own when a connection turns out to be gone.
  static size_t ReadBody(char* buffer, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    transfer.was_sent = true;
    const std::string_view rest = std::string_view(transfer.body).substr(transfer.body_offset);
    const size_t bytes = std::min(size * count, rest.size());
    std::memcpy(buffer, rest.data(), bytes);
    transfer.body_offset += bytes;
    return bytes;
  }
  static size_t OnHeader(char* line, size_t size, size_t count, void* self) {
    static_cast<Transfer*>(self)->answer.AddHeaderLine({line, size * count});
    return size * count;
  }
  static size_t OnBody(char* bytes, size_t size, size_t count, void* self) {
    static_cast<Transfer*>(self)->answer.AddBody({bytes, size * count});
    return size * count;
  }

  // False if the call is to end now, with `status`.
  bool HandOut(const OnGrpcMessage& on_message, Status* status) {
    while (true) {
      const Result<std::optional<std::string_view>> message = answer.Next();
      *status = message.status();
      if (!message.ok()) return false;
      if (!*message) return true;
      if (!on_message(**message)) return false;
    }
  }

  const Connect connect;
  bool was_disconnected = false;  // A connection was needed but not allowed.
  std::string body;
  size_t body_offset = 0;
  bool was_sent = false;
  HeaderList headers;
  GrpcAnswer answer;
};

// Detaches the call from the connection when it ends.
class GrpcConnection::Attached {
 public:
  explicit Attached(Handles& handles) : handles_(handles) {
    CHECK(curl_multi_add_handle(handles_.multi, handles_.easy) == CURLM_OK);
  }
  ~Attached() {
    curl_multi_remove_handle(handles_.multi, handles_.easy);
    handles_.Set<curl_slist*>(CURLOPT_HTTPHEADER, nullptr);
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  Handles& handles_;
};

GrpcConnection::GrpcConnection(const GrpcServer& server)
    : url_prefix_((server.encryption == Encryption::kTls ? "https://" : "http://") +
                  server.address),
      handles_((InitializeCurl(), std::make_unique<Handles>())) {
  Handles& handles = *handles_;
  const bool is_encrypted = server.encryption == Encryption::kTls;
  reconnects_itself_ = is_encrypted || !ForgetsHttp2();
  http_version_ = is_encrypted ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
  handles.Set(CURLOPT_PROTOCOLS_STR, is_encrypted ? "https" : "http");
  // An HTTP proxy does not help to reach a server nearby.
  if (!is_encrypted) handles.Set(CURLOPT_PROXY, "");
  if (!server.authorities_file.empty()) {
    handles.Set(CURLOPT_CAINFO, server.authorities_file.c_str());
  }
  handles.Set(CURLOPT_NOSIGNAL, 1L);
  handles.Set(CURLOPT_POST, 1L);
  handles.Set(CURLOPT_ERRORBUFFER, handles.error.data());
  handles.Set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::OpenSocket);
  handles.Set(CURLOPT_READFUNCTION, &Transfer::ReadBody);
  handles.Set(CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  handles.Set(CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  curl_multi_setopt(handles.multi, CURLMOPT_MAXCONNECTS, 1L);
}

GrpcConnection::~GrpcConnection() = default;

void GrpcConnection::Prepare(const GrpcRequest& request, const Limits& limits, Transfer* transfer) {
  transfer->body = GrpcFrame(request.message);
  HeaderList& headers = transfer->headers;
  headers.Add("content-type", "application/grpc");
  headers.Add("te", "trailers");
  headers.Add("grpc-accept-encoding", "identity");
  headers.Add("grpc-timeout", GrpcTimeout(limits.timeout));
  headers.Add("user-agent", "hearth-client");
  for (const auto& [name, value] : request.headers) headers.Add(name, value);

  Handles& handles = *handles_;
  handles.error[0] = '\0';
  handles.Set(CURLOPT_URL, (url_prefix_ + request.path).c_str());
  handles.Set(CURLOPT_HTTPHEADER, headers.get());
  handles.Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer->body.size()));
  handles.Set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits.timeout.count()));
  // An existing connection keeps its version; only new ones use this.
  const bool is_old = transfer->connect == Connect::kNever;
  handles.Set(CURLOPT_HTTP_VERSION, is_old ? long{CURL_HTTP_VERSION_2TLS} : http_version_);
  handles.Set(CURLOPT_OPENSOCKETDATA, transfer);
  handles.Set(CURLOPT_READDATA, transfer);
  handles.Set(CURLOPT_HEADERDATA, transfer);
  handles.Set(CURLOPT_WRITEDATA, transfer);
}

GrpcOutcome GrpcConnection::Call(const GrpcRequest& request, const Limits& limits,
                                 const OnGrpcMessage& on_message) {
  if (limits.timeout <= milliseconds(0)) {  // Which curl would take as no limit.
    return {Status(Code::kDeadlineExceeded, "no time is left for the call"), false};
  }
  if (is_connected_ && !reconnects_itself_) {
    Transfer transfer(limits.message_bytes_max, Connect::kNever);
    GrpcOutcome outcome = Run(request, limits, on_message, &transfer);
    if (!transfer.was_disconnected || outcome.was_sent) return outcome;
  }
  Transfer transfer(limits.message_bytes_max, Connect::kIfNeeded);
  return Run(request, limits, on_message, &transfer);
}

GrpcOutcome GrpcConnection::Run(const GrpcRequest& request, const Limits& limits,
                                const OnGrpcMessage& on_message, Transfer* transfer) {
  is_reusable_ = false;
  Prepare(request, limits, transfer);
  const Attached attached(*handles_);
  int poll_ms = kPollMsMin;
  curl_off_t moved_bytes = 0;
  for (int running = 1; running != 0;) {
    const CURLMcode code = curl_multi_perform(handles_->multi, &running);
    if (code != CURLM_OK) {
      return {Status(Code::kInternal, curl_multi_strerror(code)), transfer->was_sent};
    }
    Status status;
    if (!transfer->HandOut(on_message, &status)) return {status, transfer->was_sent};
    const bool has_moved = moved_bytes != MovedBytes(handles_->easy);
    moved_bytes = MovedBytes(handles_->easy);
    poll_ms = has_moved ? kPollMsMin : std::min(2 * poll_ms, kPollMsMax);
    if (running != 0) curl_multi_poll(handles_->multi, nullptr, 0, poll_ms, nullptr);
  }
  int messages_left = 0;
  const CURLMsg* done = curl_multi_info_read(handles_->multi, &messages_left);
  CHECK(done != nullptr && done->msg == CURLMSG_DONE);
  const CURLcode result = done->data.result;
  is_reusable_ = is_connected_ = result == CURLE_OK;
  // A stream that is reset after its status has still been answered.
  if (result == CURLE_OK || transfer->answer.has_status()) {
    return {transfer->answer.Outcome(), transfer->was_sent};
  }
  return {StatusOf(result, handles_->error.data()), transfer->was_sent};
}

}  // namespace hearth::client
