#include "doors/webchannel/channel_service.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/http_status.h"
#include "base/status_macros.h"
#include "doors/webchannel/answers.h"
#include "http/cors.h"
#include "wire/parse_memory.h"

namespace hearth::doors::webchannel {
namespace {

constexpr std::string_view kChannelSuffix = "/channel";
// Sent in the handshake: the protocol's version, and the server's own.
constexpr int kProtocolVersion = 8;
constexpr int kServerVersion = 12;

// "/package.Service/Method" of "/package.Service/Method/channel"; "" for other paths.
std::string_view MethodPath(std::string_view path) {
  if (!path.ends_with(kChannelSuffix)) return "";
  return path.substr(0, path.size() - kChannelSuffix.size());
}

// The request and response types of the method at `path`; nullopt if it has no .proto.
std::optional<MethodTypes> FindTypes(std::string_view path) {
  std::string name(path.substr(1));
  std::ranges::replace(name, '/', '.');
  const auto* method = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
  if (!method) return std::nullopt;
  return MethodTypes{.request = *method->input_type(), .response = *method->output_type()};
}

std::string HandshakeAnswer(const std::string& session_id) {
  return MakeChunk(R"([[0,["c",")" + session_id + R"(","",)" + std::to_string(kProtocolVersion) +
                   "," + std::to_string(kServerVersion) + "," +
                   std::to_string(kAnnouncedKeepAlive.count()) + "]]]");
}

// The method's end of the channel.
const rpc::StreamMethod* FindStream(const rpc::Methods& methods, std::string_view path) {
  const rpc::Method* method = methods.Find(path);
  return method ? std::get_if<rpc::StreamMethod>(method) : nullptr;
}

}  // namespace

ChannelService::ChannelService(const rpc::Methods& methods, rpc::Background background,
                               ChannelOptions options)
    : methods_(methods),
      background_(std::move(background)),
      options_(options),
      handler_([this](const std::shared_ptr<http::PlainCall>& request) { Answer(request); }),
      sessions_(options.sessions_max) {}

std::shared_ptr<http::ExchangeHandler> ChannelService::Open(http::Exchange& exchange) {
  const http::RequestHead& head = exchange.head();
  if (head.method() == "OPTIONS") {
    http::AnswerPlain(exchange, http::PreflightAnswer(head));
    return nullptr;
  }
  const auto refuse = [&](int status, std::string_view why) {
    http::AnswerPlain(exchange, RefusedAnswer(head, status, why));
    return nullptr;
  };
  if (!FindStream(methods_, MethodPath(head.path()))) return refuse(404, "no such channel");
  const std::optional<Form> form = Form::Parse(head.query(), kQueryFieldsMax);
  if (!form) return refuse(400, "the query cannot be read");
  const Result<ChannelQuery> query = ParseChannelQuery(head.method(), *form);
  if (!query.ok()) return refuse(400, query.status().message());
  if (query->kind == RequestKind::kBack) return OpenBackChannel(exchange, *query);
  return http::OpenPlain(exchange, handler_, {.body_bytes_max = options_.body_bytes_max});
}

std::shared_ptr<http::ExchangeHandler> ChannelService::OpenBackChannel(http::Exchange& exchange,
                                                                       const ChannelQuery& query) {
  std::shared_ptr<ChannelSession> session = sessions_.Find(query.session_id);
  if (!session) {
    http::AnswerPlain(exchange, UnknownSessionAnswer(exchange.head()));
    return nullptr;
  }
  auto back_channel = std::make_shared<BackChannel>(exchange, session, query);
  session->Attach(back_channel, query.acknowledged);
  return back_channel;
}

void ChannelService::Answer(const std::shared_ptr<http::PlainCall>& request) {
  const http::RequestHead& head = request->head();
  // Both were parsed successfully before, or the request would not have come here.
  const std::optional<Form> form = Form::Parse(head.query(), kQueryFieldsMax);
  const ChannelQuery query = *ParseChannelQuery(head.method(), *form);
  if (query.kind == RequestKind::kTerminate) return AnswerTerminate(request, query);
  if (query.kind == RequestKind::kHandshake) {
    const std::optional<MethodTypes> types = FindTypes(MethodPath(head.path()));
    if (!types) return request->Respond(RefusedAnswer(head, 404, "no such channel"));
    return ReadBody(request, types->request, [this, request, query, types](Body body) {
      AnswerHandshake(request, query, *types, std::move(body));
    });
  }
  const std::shared_ptr<ChannelSession> session = sessions_.Find(query.session_id);
  if (!session) return request->Respond(UnknownSessionAnswer(head));
  ReadBody(request, session->types().request, [request, query, session](Body body) {
    session->Forward(std::move(body.maps), query.acknowledged, request);
  });
}

void ChannelService::AnswerTerminate(const std::shared_ptr<http::PlainCall>& request,
                                     const ChannelQuery& query) {
  const std::shared_ptr<ChannelSession> session = sessions_.Find(query.session_id);
  if (!session) return request->Respond(UnknownSessionAnswer(request->head()));
  session->Terminate();
  request->Respond(ChannelAnswer(request->head(), ""));
}

Result<ChannelService::Body> ChannelService::ParseBody(std::string_view text,
                                                       const google::protobuf::Descriptor& type,
                                                       MemoryClaim claim) {
  if (!claim.Grow(text.size())) return wire::NoMemoryForMessage();  // For the decoded form.
  std::optional<Form> form = Form::Parse(text, BodyFieldsMax());
  if (!form) return InvalidArgument("the body cannot be read");
  ASSIGN_OR_RETURN(std::vector<IncomingMap> maps, ReadMaps(*form, type, &claim));
  return Body{.form = *std::move(form), .maps = std::move(maps), .claim = std::move(claim)};
}

void ChannelService::ReadBody(const std::shared_ptr<http::PlainCall>& request,
                              const google::protobuf::Descriptor& type,
                              Callback<void(Body body)> answer) {
  auto take = [request, answer = std::move(answer)](Result<Body> body) mutable {
    if (body.ok()) return answer(*std::move(body));
    const int http_status = HttpStatusOf(body.status().code());
    request->Respond(RefusedAnswer(request->head(), http_status, body.status().message()));
  };
  if (request->body().size() <= options_.loop_body_bytes_max) {
    // A short body takes a few megabytes at worst.
    return take(ParseBody(request->body(), type, MemoryClaim()));
  }
  // The task does not use the service, which may no longer exist. In that case its loops do not
  // exist either.
  const Status accepted = background_(
      request->client()->key(),
      [request, &type, memory = options_.memory, take = std::move(take)]() mutable {
        Result<Body> body = ParseBody(request->body(), type, MemoryClaim(memory));
        request->loop()->Post(
            [take = std::move(take), body = std::move(body)]() mutable { take(std::move(body)); });
      });
  if (!accepted.ok()) {
    request->Respond(RefusedAnswer(request->head(), 503, accepted.message()));
  }
}

void ChannelService::AnswerHandshake(const std::shared_ptr<http::PlainCall>& request,
                                     const ChannelQuery& query, MethodTypes types, Body body) {
  const http::RequestHead& head = request->head();
  const std::string_view path = MethodPath(head.path());
  const std::string id = NewSessionId();
  const std::optional<Form> query_form = Form::Parse(head.query(), kQueryFieldsMax);
  auto session = std::make_shared<ChannelSession>(
      request->loop(), request->client()->key(), MakeCallHead(head, path, *query_form, body.form),
      types, options_, background_, [this, id] { sessions_.Remove(id); });
  if (!session->ClaimForStart() || !sessions_.Add(id, session)) {
    return request->Respond(RefusedAnswer(head, 503, "too many channels"));
  }
  http::PlainAnswer answer = ChannelAnswer(head, HandshakeAnswer(id));
  // For intermediaries that route all requests of a session to the same server.
  if (query.wants_session_header) answer.more_headers.emplace_back("x-http-session-id", id);
  request->Respond(std::move(answer));
  session->Start(*FindStream(methods_, path), std::move(body.maps));
}

}  // namespace hearth::doors::webchannel
