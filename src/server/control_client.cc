#include "server/control_client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/status_macros.h"
#include "http/options.h"
#include "server/options.h"

namespace hearth::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

constexpr std::chrono::seconds kStepMax{30};
constexpr size_t kAnswerBytesMax = 64 * 1024 * 1024;

struct Answer {
  unsigned status = 0;
  std::string body;
};

// One connection for one request. Each step blocks until it completes or times out.
class Connection {
 public:
  // Runs one step. `Start` gets a callback whose first argument is the error code.
  template <typename Start>
  error_code Run(Start start) {
    error_code result = asio::error::operation_aborted;
    stream_.expires_after(kStepMax);
    start([&result](error_code error, auto&&...) { result = error; });
    context_.restart();
    context_.run();
    return result;
  }

  error_code Connect(const http::ListenAddress& address) {
    asio::ip::tcp::resolver resolver(context_);
    error_code error;
    const auto endpoints = resolver.resolve(address.host, std::to_string(address.port), error);
    if (error) return error;
    return Run([&](auto done) { stream_.async_connect(endpoints, std::move(done)); });
  }

  error_code Exchange(const beast::http::request<beast::http::string_body>& request,
                      Answer* answer) {
    error_code error =
        Run([&](auto done) { beast::http::async_write(stream_, request, std::move(done)); });
    if (error) return error;
    beast::flat_buffer buffer;
    beast::http::response_parser<beast::http::string_body> parser;
    parser.body_limit(kAnswerBytesMax);
    error =
        Run([&](auto done) { beast::http::async_read(stream_, buffer, parser, std::move(done)); });
    if (error) return error;
    answer->status = parser.get().result_int();
    answer->body = std::move(parser.get().body());
    return {};
  }

 private:
  asio::io_context context_;
  beast::tcp_stream stream_{context_};
};

Code CodeNamed(std::string_view name) {
  for (int number = 1; number <= static_cast<int>(Code::kUnauthenticated); ++number) {
    if (CodeName(static_cast<Code>(number)) == name) return static_cast<Code>(number);
  }
  return Code::kUnknown;
}

// {"error": {"message": …, "status": …}}; anything else is not from a Hearth server.
Status ErrorOf(const std::string& server, const Answer& answer) {
  const bool allow_exceptions = false;
  const auto json = nlohmann::json::parse(answer.body, nullptr, allow_exceptions);
  const auto text = [&](const char* key) -> std::string {
    if (!json.is_object() || !json.contains("error") || !json["error"].is_object()) return "";
    const auto found = json["error"].find(key);
    return found != json["error"].end() && found->is_string() ? found->get<std::string>() : "";
  };
  if (!text("message").empty()) return Status(CodeNamed(text("status")), text("message"));
  return Status(Code::kUnknown, server + " answered with HTTP status " +
                                    std::to_string(answer.status) + ": is it a hearth server?");
}

}  // namespace

Result<std::string> CallServer(const std::string& server, const ControlRequest& request) {
  ASSIGN_OR_RETURN(const http::ListenAddress address, ParseAddress(server));
  beast::http::request<beast::http::string_body> message(
      beast::http::string_to_verb(request.method), request.target, 11);
  message.set(beast::http::field::host, server);
  message.set(beast::http::field::content_type, "application/json");
  message.set(beast::http::field::connection, "close");
  if (!request.admin_token.empty()) {
    message.set(beast::http::field::authorization, "Bearer " + request.admin_token);
  }
  message.body() = request.body;
  message.prepare_payload();

  Connection connection;
  Answer answer;
  error_code error = connection.Connect(address);
  if (!error) error = connection.Exchange(message, &answer);
  if (error) {
    return Status(Code::kUnavailable, "no hearth server answers at " + server + " (" +
                                          error.message() +
                                          "): start one with 'hearth serve', or give its address "
                                          "with --server HOST:PORT");
  }
  if (answer.status != 200) return ErrorOf(server, answer);
  return std::move(answer.body);
}

}  // namespace hearth::server
