// Behaves like a browser: commits over a Write stream, and reads by listening once.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "cases/runner/doors.h"
#include "cases/runner/webchannel.h"
#include "model/names.h"

namespace hearth::cases {
namespace {

class WebChannel final : public RpcChannel {
 public:
  WebChannel(uint16_t port, std::string database) : port_(port), database_(std::move(database)) {}

  std::unique_ptr<PendingRpc> Start(const Request&) override { return nullptr; }
  std::unique_ptr<RpcStream> OpenStream(const std::string& method, const std::string&) override {
    return Open(method);
  }
  std::unique_ptr<WebChannelStream> Open(const std::string& method) {
    return std::make_unique<WebChannelStream>(http_, port_, method, database_);
  }
  const std::string& database() const { return database_; }
  HttpClient& http() { return http_; }

 private:
  const uint16_t port_;
  const std::string database_;
  HttpClient http_;
};

// A Write stream and the token of its last answer.
struct WriteStream {
  std::unique_ptr<WebChannelStream> stream;
  std::string token;
};

Result<proto::WriteResponse> ReceiveWrite(WriteStream& write) {
  ASSIGN_OR_RETURN(const std::string bytes, write.stream->Receive());
  proto::WriteResponse response;
  if (!response.ParseFromString(bytes)) return Status(Code::kInternal, "no WriteResponse");
  write.token = response.stream_token();
  return response;
}

// The stream that a finished commit leaves for the next one.
struct IdleStreams {
  std::optional<WriteStream> write;
  std::unique_ptr<WebChannelStream> listen;
  int targets = 1;
};

class PendingWrite final : public Pending {
 public:
  PendingWrite(WebChannel& channel, IdleStreams& idle, const proto::CommitRequest& commit)
      : channel_(channel), idle_(idle) {
    if (idle_.write) {
      write_ = std::move(*std::exchange(idle_.write, std::nullopt));
    } else {
      write_.stream = channel.Open("Write");
      proto::WriteRequest hello;
      hello.set_database(channel.database());
      write_.stream->Send(hello);
      status_ = ReceiveWrite(write_).status();
    }
    proto::WriteRequest request;
    request.set_stream_token(write_.token);
    *request.mutable_writes() = commit.writes();
    if (status_.ok()) write_.stream->Send(request);
  }

  bool IsDone() override {
    channel_.http().Poll();
    return write_.stream->HasNews();
  }

  Answer Wait() override {
    Answer answer;
    answer.status = status_;
    if (!status_.ok()) return answer;
    const Result<proto::WriteResponse> response = ReceiveWrite(write_);
    answer.status = response.status();
    if (!response.ok()) return answer;
    answer.write_results.assign(response->write_results().begin(), response->write_results().end());
    if (response->has_commit_time()) answer.commit_time = response->commit_time();
    idle_.write = std::move(write_);
    return answer;
  }

 private:
  WebChannel& channel_;
  IdleStreams& idle_;
  WriteStream write_;
  Status status_;
};

// Listens to a target until it has sent everything once.
class PendingRead final : public Pending {
 public:
  PendingRead(WebChannel& channel, IdleStreams& idle, proto::Target target)
      : channel_(channel), idle_(idle), stream_(std::move(idle.listen)) {
    if (!stream_) stream_ = channel.Open("Listen");
    target.set_once(true);
    target.set_target_id(idle_.targets++);
    proto::ListenRequest request;
    request.set_database(channel.database());
    *request.mutable_add_target() = std::move(target);
    stream_->Send(request);
  }

  bool IsDone() override {
    channel_.http().Poll();
    return stream_->HasNews();
  }

  Answer Wait() override {
    Answer answer;
    while (true) {
      const Result<std::string> bytes = stream_->Receive();
      answer.status = bytes.status();
      if (!bytes.ok()) return answer;
      proto::ListenResponse response;
      if (!response.ParseFromString(*bytes)) {
        answer.status = Status(Code::kInternal, "no ListenResponse");
        return answer;
      }
      if (!Take(response, &answer)) continue;
      idle_.listen = std::move(stream_);
      return answer;
    }
  }

 private:
  // True once the target has ended.
  static bool Take(const proto::ListenResponse& response, Answer* answer) {
    if (response.has_document_change()) {
      const proto::Document& document = response.document_change().document();
      answer->documents.push_back({document.name(), document});
    } else if (response.has_document_delete()) {
      answer->documents.push_back({response.document_delete().document()});
    } else if (response.has_target_change()) {
      const proto::TargetChange& change = response.target_change();
      if (change.has_read_time()) answer->read_time = change.read_time();
      if (change.target_change_type() == proto::TargetChange::RESET) answer->documents.clear();
      if (change.target_change_type() != proto::TargetChange::REMOVE) return false;
      answer->status = Status(static_cast<Code>(change.cause().code()), change.cause().message());
      return true;
    }
    return false;
  }

  WebChannel& channel_;
  IdleStreams& idle_;
  std::unique_ptr<WebChannelStream> stream_;
};

// The same, for the last results of a query.
class PendingLastRead final : public Pending {
 public:
  explicit PendingLastRead(std::unique_ptr<Pending> read) : read_(std::move(read)) {}
  bool IsDone() override { return read_->IsDone(); }
  Answer Wait() override {
    Answer answer = read_->Wait();
    std::reverse(answer.documents.begin(), answer.documents.end());
    return answer;
  }

 private:
  const std::unique_ptr<Pending> read_;
};

// An operation that streams do not support, which only shows during execution.
class PendingRefusal final : public Pending {
 public:
  explicit PendingRefusal(std::string why) : why_(std::move(why)) {}
  bool IsDone() override { return true; }
  Answer Wait() override {
    Answer answer;
    answer.not_possible = why_;
    return answer;
  }

 private:
  const std::string why_;
};

// Whether the request is for a database other than that of the streams.
bool IsElsewhere(const Request& request, const std::string& database) {
  std::string name = database;
  if (const auto* commit = std::get_if<proto::CommitRequest>(&request)) name = commit->database();
  if (const auto* batch = std::get_if<proto::BatchGetDocumentsRequest>(&request)) {
    name = batch->database();
  }
  if (const auto* get = std::get_if<proto::GetDocumentRequest>(&request)) {
    const auto parsed = model::DocumentName::Parse(get->name());
    if (parsed.ok()) name = parsed->database.text();
  }
  return name != database;
}

class WebChannelSession final : public Session {
 public:
  WebChannelSession(uint16_t port, const std::string& database) : channel_(port, database) {}

  std::unique_ptr<Pending> Start(const Operation& operation) override {
    if (IsElsewhere(operation.request, channel_.database())) {
      return std::make_unique<PendingRefusal>("a stream is about one database");
    }
    if (const auto* commit = std::get_if<proto::CommitRequest>(&operation.request)) {
      return std::make_unique<PendingWrite>(channel_, idle_, *commit);
    }
    proto::Target target;
    if (const auto* get = std::get_if<proto::GetDocumentRequest>(&operation.request)) {
      target.mutable_documents()->add_documents(get->name());
    } else if (const auto* batch =
                   std::get_if<proto::BatchGetDocumentsRequest>(&operation.request)) {
      target.mutable_documents();
      for (const std::string& name : batch->documents()) {
        target.mutable_documents()->add_documents(name);
      }
    } else {
      const auto& query = std::get<proto::RunQueryRequest>(operation.request);
      target.mutable_query()->set_parent(query.parent());
      *target.mutable_query()->mutable_structured_query() = query.structured_query();
      if (operation.is_limit_to_last) {
        TurnRound(target.mutable_query()->mutable_structured_query());
      }
    }
    auto read = std::make_unique<PendingRead>(channel_, idle_, std::move(target));
    if (!operation.is_limit_to_last) return read;
    return std::make_unique<PendingLastRead>(std::move(read));
  }

  std::unique_ptr<Listeners> Listen() override {
    return NewStreamListeners(channel_, channel_.database());
  }

 private:
  WebChannel channel_;
  IdleStreams idle_;
};

// Whether a read is for the current state and for whole documents.
template <typename ReadRequest>
bool IsPlainRead(const ReadRequest& request) {
  return !request.has_mask() && !request.has_transaction() && !request.has_read_time();
}

class WebChannelDoor final : public Door {
 public:
  explicit WebChannelDoor(const ServerAddress& server) : server_(server) {}

  std::optional<std::string> WhyNot(const Operation& operation) const override {
    if (const auto* commit = std::get_if<proto::CommitRequest>(&operation.request)) {
      if (!commit->transaction().empty()) return "streams have no transactions";
      if (commit->writes().empty()) return "a Write stream answers a request without writes apart";
      return WhyNotJson(*commit);
    }
    if (const auto* get = std::get_if<proto::GetDocumentRequest>(&operation.request)) {
      if (IsPlainRead(*get)) return std::nullopt;
      return "a listener has neither masks nor times nor transactions";
    }
    if (const auto* batch = std::get_if<proto::BatchGetDocumentsRequest>(&operation.request)) {
      if (IsPlainRead(*batch) && !batch->has_new_transaction()) return std::nullopt;
      return "a listener has neither masks nor times nor transactions";
    }
    if (const auto* query = std::get_if<proto::RunQueryRequest>(&operation.request)) {
      if (query->structured_query().has_find_nearest())
        return "nearest neighbours have no listeners";
      if (query->has_explain_options()) return "a listener explains nothing";
      if (query->has_transaction() || query->has_read_time() || query->has_new_transaction()) {
        return "a listener has neither times nor transactions";
      }
      return WhyNotJson(*query);
    }
    return "streams have no " + MethodOf(operation.request);
  }
  std::optional<std::string> WhyNotListen(const proto::Target&) const override {
    return std::nullopt;
  }
  bool Shows(Detail detail) const override { return detail != Detail::kNotFoundMessage; }
  std::unique_ptr<Session> Open(const std::string& database) override {
    return std::make_unique<WebChannelSession>(server_.port, database);
  }

 private:
  const ServerAddress server_;
};

}  // namespace

std::unique_ptr<Door> NewWebChannelDoor(const ServerAddress& server) {
  return std::make_unique<WebChannelDoor>(server);
}

}  // namespace hearth::cases
