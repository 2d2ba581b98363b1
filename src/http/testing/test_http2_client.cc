#include "http/testing/test_http2_client.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace hearth::http {
namespace {

std::string Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

TestHttp2Client& Self(void* self) { return *static_cast<TestHttp2Client*>(self); }

nghttp2_nv ToNameValue(std::string_view name, std::string_view value) {
  return {.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          .value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

int Number(const std::map<std::string, std::string>& headers, const std::string& name) {
  const auto found = headers.find(name);
  return found == headers.end() ? -1 : std::atoi(found->second.c_str());
}

}  // namespace

int TestAnswer::http_status() const { return Number(headers, ":status"); }

int TestAnswer::grpc_status() const { return Number(headers, "grpc-status"); }

std::vector<std::string> TestAnswer::messages() const {
  std::vector<std::string> all;
  std::string_view rest = body;
  while (rest.size() >= 5) {
    size_t size = 0;
    for (size_t i = 1; i < 5; ++i) size = size << 8 | static_cast<uint8_t>(rest[i]);
    if (rest.size() - 5 < size) break;
    all.emplace_back(rest.substr(5, size));
    rest.remove_prefix(5 + size);
  }
  return all;
}

std::string TestFrame(std::string_view message, bool compressed) {
  std::string frame(5, '\0');
  frame[0] = compressed ? 1 : 0;
  for (size_t i = 0; i < 4; ++i) frame[4 - i] = static_cast<char>(message.size() >> (8 * i));
  return frame.append(message);
}

TestHttp2Client::TestHttp2Client(uint16_t port, TestHttp2Options options)
    : socket_(port, options.receive_buffer_bytes) {
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnStreamClose);
  nghttp2_option* option = nullptr;
  CHECK(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_no_auto_window_update(option, options.opens_windows ? 0 : 1);
  CHECK(nghttp2_session_client_new2(&session_, callbacks, this, option) == 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);

  const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                         options.stream_window_bytes};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &window, 1);
  Flush();
}

TestHttp2Client::~TestHttp2Client() { nghttp2_session_del(session_); }

int32_t TestHttp2Client::Open(std::string_view method, std::string_view path,
                              const TestHeaders& headers) {
  std::vector<nghttp2_nv> fields = {ToNameValue(":method", method), ToNameValue(":path", path),
                                    ToNameValue(":scheme", "http"),
                                    ToNameValue(":authority", "localhost")};
  for (const auto& [name, value] : headers) fields.push_back(ToNameValue(name, value));
  const nghttp2_data_provider provider = {.source = {.ptr = nullptr}, .read_callback = &ReadUpload};
  const bool has_body = method == "POST";
  return nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                has_body ? &provider : nullptr, nullptr);
}

int32_t TestHttp2Client::OpenGrpc(std::string_view path, const TestHeaders& more_headers) {
  TestHeaders headers = {{"content-type", "application/grpc"}, {"te", "trailers"}};
  headers.insert(headers.end(), more_headers.begin(), more_headers.end());
  return Open("POST", path, headers);
}

void TestHttp2Client::SendBody(int32_t stream_id, std::string_view bytes) {
  uploads_[stream_id].bytes.append(bytes);
  Resume(stream_id);
}

void TestHttp2Client::EndBody(int32_t stream_id) {
  uploads_[stream_id].ended = true;
  Resume(stream_id);
}

void TestHttp2Client::Reset(int32_t stream_id) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream_id, NGHTTP2_CANCEL);
  Flush();
}

TestAnswer TestHttp2Client::Call(std::string_view path, std::string_view message,
                                 const TestHeaders& more_headers) {
  return CallRaw(path, TestFrame(message), more_headers);
}

TestAnswer TestHttp2Client::CallRaw(std::string_view path, std::string_view body,
                                    const TestHeaders& more_headers) {
  const int32_t stream = OpenGrpc(path, more_headers);
  SendBody(stream, body);
  EndBody(stream);
  UntilClosed(stream);
  return answer(stream);
}

TestAnswer TestHttp2Client::Get(std::string_view path) {
  const int32_t stream = Open("GET", path, {});
  UntilClosed(stream);
  return answer(stream);
}

bool TestHttp2Client::Until(const std::function<bool()>& met) {
  while (!met()) {
    Flush();
    const std::string bytes = gone_ ? std::string() : socket_.ReadSome();
    if (bytes.empty()) {
      gone_ = true;
      return met();
    }
    if (nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()),
                                 bytes.size()) < 0) {
      return false;
    }
  }
  Flush();
  return true;
}

bool TestHttp2Client::UntilClosed(int32_t stream_id) {
  return Until([&] { return answers_[stream_id].closed; });
}

bool TestHttp2Client::RoundTrip() {
  const size_t before = pings_answered_;
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  return Until([&] { return pings_answered_ > before; });
}

void TestHttp2Client::Flush() {
  std::string out;
  while (true) {
    const uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size <= 0) break;
    out.append(Text(data, static_cast<size_t>(size)));
  }
  // A lost server is detected when its answers are read.
  if (!out.empty()) socket_.Send(out);
}

bool TestHttp2Client::UntilConnectionEnds() {
  Until([] { return false; });
  return gone_;
}

uint32_t TestHttp2Client::server_setting(nghttp2_settings_id id) const {
  return nghttp2_session_get_remote_settings(session_, id);
}

ssize_t TestHttp2Client::ReadUpload(nghttp2_session*, int32_t stream_id, uint8_t* buffer,
                                    size_t bytes_max, uint32_t* flags, nghttp2_data_source*,
                                    void* self) {
  Upload& upload = Self(self).uploads_[stream_id];
  if (upload.bytes.empty() && !upload.ended) {
    upload.deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  const size_t size = std::min(bytes_max, upload.bytes.size());
  std::copy_n(upload.bytes.begin(), size, buffer);
  upload.bytes.erase(0, size);
  if (upload.bytes.empty() && upload.ended) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

void TestHttp2Client::Resume(int32_t stream_id) {
  Upload& upload = uploads_[stream_id];
  if (std::exchange(upload.deferred, false)) nghttp2_session_resume_data(session_, stream_id);
  Flush();
}

int TestHttp2Client::OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                              size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                              void* self) {
  Self(self).answers_[frame->hd.stream_id].headers[Text(name, name_size)] = Text(value, value_size);
  return 0;
}

int TestHttp2Client::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  TestHttp2Client& client = Self(self);
  if (frame->hd.type == NGHTTP2_GOAWAY) {
    client.goaway_ = frame->goaway.last_stream_id;
    client.goaway_reason_ = frame->goaway.error_code;
    ++client.goaway_count_;
  } else if (frame->hd.type == NGHTTP2_PING) {
    const bool is_answer = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
    ++(is_answer ? client.pings_answered_ : client.pings_received_);
  } else if (frame->hd.type == NGHTTP2_HEADERS) {
    ++client.answers_[frame->hd.stream_id].header_blocks;
  }
  return 0;
}

int TestHttp2Client::OnData(nghttp2_session*, uint8_t, int32_t stream_id, const uint8_t* data,
                            size_t size, void* self) {
  Self(self).answers_[stream_id].body.append(Text(data, size));
  return 0;
}

int TestHttp2Client::OnStreamClose(nghttp2_session*, int32_t stream_id, uint32_t error_code,
                                   void* self) {
  TestAnswer& answer = Self(self).answers_[stream_id];
  answer.closed = true;
  answer.error_code = error_code;
  return 0;
}

}  // namespace hearth::http
