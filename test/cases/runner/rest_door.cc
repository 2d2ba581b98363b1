// REST: requests as URLs and JSON, produced by protobuf's own mapping and not by Hearth's.
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "base/base64.h"
#include "base/status_macros.h"
#include "cases/runner/doors.h"
#include "cases/runner/http_client.h"
#include "cases/runner/rpc.h"
#include "http/percent.h"

namespace hearth::cases {
namespace {

using google::protobuf::Message;

// A request in HTTP form.
struct RestRequest {
  std::string method;
  std::string path;  // Below /v1/.
  std::vector<std::pair<std::string, std::string>> query;
  const Message* body = nullptr;
  std::unique_ptr<Message> answer;
  bool is_list = false;  // The answer is a JSON array of these messages.
};

// "projects/p/.../documents/c/d" as a URL path.
std::string EncodePath(std::string_view path) {
  std::string encoded;
  while (true) {
    const size_t slash = std::min(path.find('/'), path.size());
    encoded += http::EncodePercent(path.substr(0, slash));
    if (slash == path.size()) return encoded;
    encoded += '/';
    path.remove_prefix(slash + 1);
  }
}

std::string TimeText(const Time& time) {
  std::string json;
  IgnoreError(google::protobuf::util::MessageToJsonString(time, &json).ok()
                  ? Status()
                  : InvalidArgument("no time"),
              "WhyNot has refused such times");
  return json.size() > 2 ? json.substr(1, json.size() - 2) : "";
}

using Parameters = std::vector<std::pair<std::string, std::string>>;

template <typename Mask>
void AddMask(const std::string& name, const Mask& mask, Parameters* query) {
  for (const std::string& path : mask.field_paths())
    query->emplace_back(name + ".fieldPaths", path);
}

void AddPrecondition(const proto::Precondition& precondition, Parameters* query) {
  if (precondition.has_exists()) {
    query->emplace_back("currentDocument.exists", precondition.exists() ? "true" : "false");
  }
  if (precondition.has_update_time()) {
    query->emplace_back("currentDocument.updateTime", TimeText(precondition.update_time()));
  }
}

template <typename ReadRequest>
void AddConsistency(const ReadRequest& request, Parameters* query) {
  if (request.has_transaction()) {
    query->emplace_back("transaction", EncodeBase64(request.transaction()));
  }
  if (request.has_read_time()) query->emplace_back("readTime", TimeText(request.read_time()));
}

// One overload per method.
RestRequest ToRest(const proto::GetDocumentRequest& request) {
  RestRequest rest{
      "GET", EncodePath(request.name()), {}, nullptr, std::make_unique<proto::Document>()};
  AddMask("mask", request.mask(), &rest.query);
  AddConsistency(request, &rest.query);
  return rest;
}

RestRequest ToRest(const proto::ListDocumentsRequest& request) {
  RestRequest rest{"GET",
                   EncodePath(request.parent()) + "/" + EncodePath(request.collection_id()),
                   {},
                   nullptr,
                   std::make_unique<proto::ListDocumentsResponse>()};
  if (request.page_size() != 0) {
    rest.query.emplace_back("pageSize", std::to_string(request.page_size()));
  }
  if (!request.page_token().empty()) rest.query.emplace_back("pageToken", request.page_token());
  if (!request.order_by().empty()) rest.query.emplace_back("orderBy", request.order_by());
  if (request.show_missing()) rest.query.emplace_back("showMissing", "true");
  AddMask("mask", request.mask(), &rest.query);
  AddConsistency(request, &rest.query);
  return rest;
}

RestRequest ToRest(const proto::CreateDocumentRequest& request) {
  RestRequest rest{"POST",
                   EncodePath(request.parent()) + "/" + EncodePath(request.collection_id()),
                   {},
                   &request.document(),
                   std::make_unique<proto::Document>()};
  if (!request.document_id().empty()) rest.query.emplace_back("documentId", request.document_id());
  AddMask("mask", request.mask(), &rest.query);
  return rest;
}

RestRequest ToRest(const proto::UpdateDocumentRequest& request) {
  RestRequest rest{"PATCH",
                   EncodePath(request.document().name()),
                   {},
                   &request.document(),
                   std::make_unique<proto::Document>()};
  AddMask("updateMask", request.update_mask(), &rest.query);
  AddMask("mask", request.mask(), &rest.query);
  AddPrecondition(request.current_document(), &rest.query);
  return rest;
}

RestRequest ToRest(const proto::DeleteDocumentRequest& request) {
  RestRequest rest{"DELETE",
                   EncodePath(request.name()),
                   {},
                   nullptr,
                   std::make_unique<google::protobuf::Empty>()};
  AddPrecondition(request.current_document(), &rest.query);
  return rest;
}

template <typename Response, typename AnyRequest>
RestRequest Post(const std::string& path, const char* verb, const AnyRequest& request,
                 bool is_list = false) {
  return {"POST",   EncodePath(path) + ":" + verb, {},
          &request, std::make_unique<Response>(),  is_list};
}

template <typename Response, typename AnyRequest>
RestRequest PostToDatabase(const char* verb, const AnyRequest& request, bool is_list = false) {
  return Post<Response>(request.database() + "/documents", verb, request, is_list);
}

RestRequest ToRest(const proto::CommitRequest& request) {
  return PostToDatabase<proto::CommitResponse>("commit", request);
}
RestRequest ToRest(const proto::BatchWriteRequest& request) {
  return PostToDatabase<proto::BatchWriteResponse>("batchWrite", request);
}
RestRequest ToRest(const proto::BatchGetDocumentsRequest& request) {
  return PostToDatabase<proto::BatchGetDocumentsResponse>("batchGet", request, true);
}
RestRequest ToRest(const proto::BeginTransactionRequest& request) {
  return PostToDatabase<proto::BeginTransactionResponse>("beginTransaction", request);
}
RestRequest ToRest(const proto::RollbackRequest& request) {
  return PostToDatabase<google::protobuf::Empty>("rollback", request);
}
RestRequest ToRest(const proto::ExecutePipelineRequest& request) {
  return PostToDatabase<proto::ExecutePipelineResponse>("executePipeline", request, true);
}
RestRequest ToRest(const proto::ListCollectionIdsRequest& request) {
  return Post<proto::ListCollectionIdsResponse>(request.parent(), "listCollectionIds", request);
}
RestRequest ToRest(const proto::RunQueryRequest& request) {
  return Post<proto::RunQueryResponse>(request.parent(), "runQuery", request, true);
}
RestRequest ToRest(const proto::RunAggregationQueryRequest& request) {
  return Post<proto::RunAggregationQueryResponse>(request.parent(), "runAggregationQuery", request,
                                                  true);
}
RestRequest ToRest(const proto::PartitionQueryRequest& request) {
  return Post<proto::PartitionQueryResponse>(request.parent(), "partitionQuery", request);
}

Code CodeOf(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Code::kUnauthenticated); ++i) {
    if (CodeName(static_cast<Code>(i)) == name) return static_cast<Code>(i);
  }
  return Code::kUnknown;
}

// {"error": {"status": "NOT_FOUND", "message": "..."}}, or a list that contains it.
Status StatusOf(const nlohmann::json& json, const std::string& text) {
  const nlohmann::json& object = json.is_array() && !json.empty() ? json.front() : json;
  if (!object.is_object() || !object.contains("error")) {
    return Status(Code::kUnknown, "not an error of Google's form: " + text.substr(0, 500));
  }
  const nlohmann::json& error = object["error"];
  return Status(CodeOf(error.value("status", "")), error.value("message", ""));
}

// The emulator's answers have additional fields.
enum class UnknownFields : uint8_t { kRefuse, kIgnore };

Result<std::string> Encode(const nlohmann::json& json, UnknownFields unknown, Message* message) {
  message->Clear();
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = unknown == UnknownFields::kIgnore;
  const auto status = google::protobuf::util::JsonStringToMessage(json.dump(), message, options);
  if (!status.ok()) {
    return Status(Code::kInternal, "an invalid answer: " + std::string(status.message()));
  }
  return message->SerializeAsString();
}

Result<std::vector<std::string>> Decode(const RestRequest& request, long http_status,
                                        const std::string& text, UnknownFields unknown) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (http_status != 200 || json.is_discarded()) return StatusOf(json, text);
  std::vector<std::string> messages;
  if (!request.is_list) {
    ASSIGN_OR_RETURN(std::string message, Encode(json, unknown, request.answer.get()));
    messages.push_back(std::move(message));
    return messages;
  }
  for (const nlohmann::json& each : json) {
    if (each.contains("error")) return StatusOf(each, text);
    ASSIGN_OR_RETURN(std::string message, Encode(each, unknown, request.answer.get()));
    messages.push_back(std::move(message));
  }
  return messages;
}

class RestPending final : public PendingRpc {
 public:
  RestPending(HttpClient& http, RestRequest request, std::unique_ptr<HttpTransfer> transfer,
              UnknownFields unknown)
      : http_(http),
        request_(std::move(request)),
        transfer_(std::move(transfer)),
        unknown_(unknown) {}

  bool IsDone() override {
    http_.Poll();
    return transfer_->is_done();
  }
  Result<std::vector<std::string>> Wait() override {
    if (!http_.Until([this] { return transfer_->is_done(); })) return OutOfPatience();
    if (!transfer_->error().empty()) return Status(Code::kUnavailable, transfer_->error());
    return Decode(request_, transfer_->http_status(), transfer_->body(), unknown_);
  }

 private:
  HttpClient& http_;
  const RestRequest request_;
  const std::unique_ptr<HttpTransfer> transfer_;
  const UnknownFields unknown_;
};

class RestChannel final : public RpcChannel {
 public:
  explicit RestChannel(const ServerAddress& server)
      : url_("http://127.0.0.1:" + std::to_string(server.port) + "/v1/"),
        unknown_(server.is_emulator ? UnknownFields::kIgnore : UnknownFields::kRefuse) {}

  std::unique_ptr<PendingRpc> Start(const Request& request) override {
    RestRequest rest = std::visit([](const auto& message) { return ToRest(message); }, request);
    HttpRequest http{rest.method, url_ + rest.path, {"Authorization: Bearer owner"}};
    char separator = '?';
    for (const auto& [name, value] : rest.query) {
      http.url += separator + name + "=" + http::EncodePercent(value);
      separator = '&';
    }
    if (rest.body != nullptr) {
      http.headers.push_back("Content-Type: application/json");
      const auto status = google::protobuf::util::MessageToJsonString(*rest.body, &http.body);
      if (!status.ok()) http.body = std::string(status.message());
      rest.body = nullptr;  // Owned by the caller.
    }
    auto transfer = http_.Start(std::move(http));
    return std::make_unique<RestPending>(http_, std::move(rest), std::move(transfer), unknown_);
  }

  std::unique_ptr<RpcStream> OpenStream(const std::string&, const std::string&) override {
    return nullptr;
  }

 private:
  const std::string url_;
  const UnknownFields unknown_;
  HttpClient http_;
};

// A document name in the form that a URL can hold.
bool HasDocumentShape(std::string_view name) {
  constexpr ptrdiff_t kSlashesBefore = 5;  // projects/P/databases/D/documents/
  const auto slashes = std::count(name.begin(), name.end(), '/');
  return name.starts_with("projects/") && slashes > kSlashesBefore &&
         (slashes - kSlashesBefore) % 2 == 1 && name.find("//") == std::string_view::npos &&
         !name.ends_with('/') && name.find("/documents/") != std::string_view::npos;
}

template <typename AnyRequest>
std::optional<std::string> WhyNoMask(const AnyRequest& request) {
  if (request.has_mask() && request.mask().field_paths().empty()) {
    return "parameters of a URL cannot say an empty mask";
  }
  return std::nullopt;
}

std::optional<std::string> WhyNoName(const std::string& name) {
  if (HasDocumentShape(name)) return std::nullopt;
  return "a URL cannot hold the name of no document";
}

std::optional<std::string> WhyNotUrl(const proto::GetDocumentRequest& request) {
  if (auto why = WhyNoName(request.name())) return why;
  return WhyNoMask(request);
}
std::optional<std::string> WhyNotUrl(const proto::ListDocumentsRequest& request) {
  if (request.collection_id().empty()) return "the URL of a list names the collection";
  return WhyNoMask(request);
}
std::optional<std::string> WhyNotUrl(const proto::CreateDocumentRequest& request) {
  return WhyNoMask(request);
}
std::optional<std::string> WhyNotUrl(const proto::UpdateDocumentRequest& request) {
  if (request.has_update_mask() && request.update_mask().field_paths().empty()) {
    return "parameters of a URL cannot say an empty mask";
  }
  if (auto why = WhyNoName(request.document().name())) return why;
  return WhyNoMask(request);
}
std::optional<std::string> WhyNotUrl(const proto::DeleteDocumentRequest& request) {
  return WhyNoName(request.name());
}
template <typename AnyRequest>
std::optional<std::string> WhyNotUrl(const AnyRequest&) {
  return std::nullopt;
}

// What the emulator does not support in a URL.
std::optional<std::string> WhyNotEmulatorUrl(const Request& request) {
  constexpr size_t kPathBytesMax = 4'000;
  const RestRequest rest = std::visit([](const auto& each) { return ToRest(each); }, request);
  for (const auto& [name, value] : rest.query) {
    if (name == "transaction" || name == "readTime" || name == "currentDocument.updateTime") {
      return "the emulator does not read times and bytes in URLs";
    }
  }
  if (rest.path.size() > kPathBytesMax) return "the emulator does not take such long URLs";
  if (rest.path.find("%0A") != std::string::npos) return "the emulator trims names in URLs";
  return std::nullopt;
}

bool HasNegativeZero(const Request& request) {
  static const std::regex negative_zero("\"(doubleValue|latitude|longitude)\":-0[,}]");
  std::string json;
  return google::protobuf::util::MessageToJsonString(MessageOf(request), &json).ok() &&
         std::regex_search(json, negative_zero);
}

class RestDoor final : public Door {
 public:
  explicit RestDoor(const ServerAddress& server) : server_(server) {}

  bool is_emulator() const override { return server_.is_emulator; }
  std::optional<std::string> WhyNot(const Operation& operation) const override {
    if (auto why = WhyNotJson(MessageOf(operation.request))) return why;
    auto why =
        std::visit([](const auto& request) { return WhyNotUrl(request); }, operation.request);
    if (!why && is_emulator()) {
      if (std::holds_alternative<proto::PartitionQueryRequest>(operation.request)) {
        why = "the emulator has no partitions";
      } else if (auto why_url = WhyNotEmulatorUrl(operation.request)) {
        why = why_url;
      } else if (HasNegativeZero(operation.request)) {
        why = "over REST the emulator makes 0 of -0";
      }
    }
    return why;
  }
  std::optional<std::string> WhyNotListen(const proto::Target&) const override {
    return "REST has no streams";
  }
  bool Shows(Detail) const override { return true; }
  std::unique_ptr<Session> Open(const std::string& database) override {
    return NewRpcSession(std::make_unique<RestChannel>(server_), database);
  }

 private:
  const ServerAddress server_;
};

}  // namespace

std::unique_ptr<Door> NewRestDoor(const ServerAddress& server) {
  return std::make_unique<RestDoor>(server);
}

}  // namespace hearth::cases
