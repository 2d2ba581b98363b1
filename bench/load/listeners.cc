#include "load/listeners.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "bench_document.h"
#include "google/firestore/v1/firestore.pb.h"

namespace hearth::bench {
namespace {

namespace proto = google::firestore::v1;

using Clock = ClientConnection::Clock;
using Messages = ClientConnection::Messages;

constexpr std::string_view kListenPath = "/google.firestore.v1.Firestore/Listen";
constexpr std::string_view kCommitPath = "/google.firestore.v1.Firestore/Commit";
constexpr std::string_view kQueryPath = "/google.firestore.v1.Firestore/RunQuery";
constexpr std::chrono::milliseconds kPollMax{100};
constexpr std::chrono::seconds kSilenceMax{60};

double Micros(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string Root() { return std::string(kDatabase) + "/documents"; }

std::string NamePrefix(const std::string& collection) {
  return Root() + "/" + collection + "/document-";
}

}  // namespace

// One stream, with its targets.
class Listeners::Listener final : public ClientCall {
 public:
  Listener(Listeners& owner, ClientConnection& connection)
      : owner_(owner),
        connection_(connection),
        census_(NamePrefix(owner.options_.collection)),
        loading_targets_(owner.options_.targets) {}

  size_t documents() const { return census_.count(); }
  size_t bytes() const { return bytes_; }

  void OnData(std::string_view data) override {
    splitter_.Take(data, [this](std::string_view message) { OnMessage(message); });
  }
  void OnEnd(int grpc_status) override {
    owner_.Fail("a Listen stream ended with status " + std::to_string(grpc_status));
  }

 private:
  void OnMessage(std::string_view message) {
    bytes_ += message.size();
    ++owner_.heard_messages_;
    const std::optional<ListenAnswer> answer = ReadListenAnswer(message);
    if (!answer) return owner_.Fail("an answer that is not a ListenResponse");
    if (answer->document) OnDocument(*answer->document);
    if (answer->change) OnTargetChange(*answer);
  }

  void OnDocument(const DocumentAnswer& document) {
    if (!is_listening_) {
      if (!census_.Add(document.name)) owner_.Fail("a document received twice, or not selected");
      owner_.newest_commit_ = std::max(owner_.newest_commit_, document.update_time);
      return;
    }
    if (document.update_time <= owner_.newest_commit_) {
      ++owner_.repeated_;
      return;
    }
    if (document.name != owner_.round_.name) return owner_.Fail("a document that is not selected");
    unannounced_ = document.update_time;
  }

  void OnTargetChange(const ListenAnswer& answer) {
    switch (*answer.change) {
      case ListenAnswer::Change::kRemove:
        return owner_.Fail("a target was removed");
      case ListenAnswer::Change::kCurrent:
        loading_targets_ -= std::min(loading_targets_, answer.targets);
        return;
      case ListenAnswer::Change::kAdd:
      case ListenAnswer::Change::kReset:
        return;
      case ListenAnswer::Change::kNone:
        if (answer.targets == 0 && answer.read_time) OnSnapshot(*answer.read_time);
    }
  }

  void OnSnapshot(Nanos read_time) {
    if (!is_listening_ && loading_targets_ == 0) {
      is_listening_ = true;
      ++owner_.listening_;
      owner_.last_listening_ = connection_.now();
    }
    if (unannounced_ && read_time >= *unannounced_) {
      owner_.OnHeard(*std::exchange(unannounced_, std::nullopt), connection_.now());
    }
  }

  Listeners& owner_;
  ClientConnection& connection_;
  FrameSplitter splitter_;
  DocumentCensus census_;
  size_t loading_targets_;  // Not CURRENT yet.
  size_t bytes_ = 0;
  bool is_listening_ = false;
  std::optional<Nanos> unannounced_;  // A commit whose document has arrived, but no snapshot.
};

// A call with one request, whose answers are processed as they arrive.
class Listeners::UnaryCall final : public ClientCall {
 public:
  using Visit = std::function<void(std::string_view message)>;
  UnaryCall(Listeners& owner, Visit visit) : owner_(owner), visit_(std::move(visit)) {}

  bool is_ended() const { return is_ended_; }
  Clock::time_point end() const { return end_; }

  void OnData(std::string_view data) override {
    splitter_.Take(data, [this](std::string_view message) {
      ++owner_.heard_messages_;
      visit_(message);
    });
  }
  void OnEnd(int grpc_status) override {
    if (grpc_status != 0) owner_.Fail("a call ended with status " + std::to_string(grpc_status));
    is_ended_ = true;
    end_ = owner_.writer_.now();
  }

 private:
  Listeners& owner_;
  const Visit visit_;
  FrameSplitter splitter_;
  bool is_ended_ = false;
  Clock::time_point end_;
};

Listeners::Listeners(const ListenOptions& options)
    : options_(options),
      writer_(options_.client),
      // Differs from the start of earlier writers: a write that changes nothing notifies no
      // listener.
      next_round_(static_cast<int>(Clock::now().time_since_epoch().count() % 1'000'000'000)) {}

Listeners::~Listeners() = default;

std::string Listeners::AddTarget(size_t number) const {
  proto::ListenRequest request;
  request.set_database(kDatabase);
  proto::Target& target = *request.mutable_add_target();
  target.set_target_id(static_cast<int>(number % options_.targets) + 1);
  target.mutable_query()->set_parent(Root());
  proto::StructuredQuery& query = *target.mutable_query()->mutable_structured_query();
  std::string collection = options_.collection;
  if (options_.wanted == Wanted::kOthers) collection += "-" + std::to_string(number);
  query.add_from()->set_collection_id(collection);
  if (options_.wanted == Wanted::kEquality) {
    auto& filter = *query.mutable_where()->mutable_field_filter();
    filter.mutable_field()->set_field_path("url");
    filter.set_op(proto::StructuredQuery::FieldFilter::EQUAL);
    filter.mutable_value()->set_string_value(
        DocumentUrl(options_.first_value + static_cast<int>(number)));
  }
  return request.SerializeAsString();
}

Status Listeners::OpenConnection() {
  ClientConnection& connection =
      *connections_.emplace_back(std::make_unique<ClientConnection>(options_.client));
  RETURN_IF_ERROR(connection.Connect());
  for (size_t i = 0; i < options_.streams; ++i) {
    Listener& listener = *listeners_.emplace_back(std::make_unique<Listener>(*this, connection));
    for (size_t target = 0; target < options_.targets; ++target) {
      const std::string request = AddTarget(opened_targets_++);
      if (target > 0) {
        connection.Send(listener, request);
      } else if (!connection.Open(listener, kListenPath, request, Messages::kMore)) {
        return Status(Code::kUnavailable, "a connection takes no more streams");
      }
    }
  }
  connection.Flush();
  poll_.Add(connection);
  return Status();
}

Result<OpenReport> Listeners::Open() {
  RETURN_IF_ERROR(writer_.Connect());
  writer_.Flush();
  poll_.Add(writer_);
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < options_.connections; ++i) RETURN_IF_ERROR(OpenConnection());
  RETURN_IF_ERROR(WaitUntil([this] { return listening_ == listeners_.size(); }));
  OpenReport report{.streams = listeners_.size(), .seconds = Seconds(last_listening_ - start)};
  for (const auto& listener : listeners_) {
    report.documents += listener->documents();
    report.bytes += listener->bytes();
  }
  return report;
}

size_t Listeners::StreamsConcerned() const {
  switch (options_.wanted) {
    case Wanted::kCollection:
      return listeners_.size();
    case Wanted::kEquality:
      return options_.first_value == 0 ? 1 : 0;
    case Wanted::kOthers:
      return 0;
  }
  return 0;
}

Result<CommitReport> Listeners::Commit(size_t commits) {
  CommitReport report{.streams_concerned = StreamsConcerned()};
  repeated_ = 0;
  if (report.streams_concerned == 0) return InvalidArgument("no stream would receive a commit");
  for (size_t i = 0; i < commits; ++i) {
    ASSIGN_OR_RETURN(newest_commit_, CommitOnce(next_round_++, &report));
  }
  report.repeated = repeated_;
  return report;
}

Result<Nanos> Listeners::CommitOnce(int round, CommitReport* report) {
  proto::CommitRequest request;
  request.set_database(kDatabase);
  FillDocument(options_.collection, 0, round, request.add_writes()->mutable_update());
  round_ = {.name = DocumentName(options_.collection, 0)};
  std::optional<Nanos> committed;
  UnaryCall call(*this, [&](std::string_view message) { committed = ReadCommitAnswer(message); });
  const std::string bytes = request.SerializeAsString();
  const Clock::time_point start = Clock::now();
  if (!writer_.Open(call, kCommitPath, bytes, Messages::kOne)) {
    return Status(Code::kUnavailable, "the writer's connection takes no more calls");
  }
  writer_.Flush();
  RETURN_IF_ERROR(
      WaitUntil([&] { return call.is_ended() && round_.heard >= report->streams_concerned; }));
  if (!committed || *committed != round_.time || round_.heard != report->streams_concerned) {
    return Status(Code::kInternal, "received another commit than the acknowledged one");
  }
  report->acknowledged.push_back(Micros(call.end() - start));
  report->first_heard.push_back(Micros(round_.first_heard - start));
  report->last_heard.push_back(Micros(round_.last_heard - start));
  report->last_heard_beyond.push_back(Micros(round_.last_heard - call.end()));
  return *committed;
}

Result<QueryReport> Listeners::Query() {
  proto::RunQueryRequest request;
  request.set_parent(Root());
  request.mutable_structured_query()->add_from()->set_collection_id(options_.collection);
  DocumentCensus census(NamePrefix(options_.collection));
  QueryReport report;
  UnaryCall call(*this, [&](std::string_view message) {
    report.bytes += message.size();
    const auto answer = ReadQueryAnswer(message);
    if (!answer) return Fail("an answer that is not a RunQueryResponse");
    if (*answer && !census.Add((*answer)->name)) Fail("a result twice, or one not selected");
  });
  const Clock::time_point start = Clock::now();
  if (!writer_.Open(call, kQueryPath, request.SerializeAsString(), Messages::kOne)) {
    return Status(Code::kUnavailable, "the writer's connection takes no more calls");
  }
  writer_.Flush();
  RETURN_IF_ERROR(WaitUntil([&] { return call.is_ended(); }));
  report.documents = census.count();
  report.seconds = Seconds(call.end() - start);
  return report;
}

Status Listeners::Idle(std::chrono::milliseconds duration) {
  const Clock::time_point end = Clock::now() + duration;
  return WaitUntil([end] { return Clock::now() >= end; });
}

template <typename Condition>
Status Listeners::WaitUntil(const Condition& is_done) {
  Clock::time_point progress = Clock::now();
  size_t heard = heard_messages_;
  while (!is_done()) {
    if (!failure_.ok()) return failure_;
    poll_.Wait(kPollMax);
    const auto lost = [](const auto& connection) { return connection->lost(); };
    if (writer_.lost() || std::ranges::any_of(connections_, lost)) {
      return Status(Code::kUnavailable, "the server closed a connection");
    }
    const Clock::time_point now = Clock::now();
    if (std::exchange(heard, heard_messages_) != heard) progress = now;
    if (now - progress > kSilenceMax) {
      return Status(Code::kDeadlineExceeded, std::to_string(listening_) + " streams listen, " +
                                                 std::to_string(round_.heard) +
                                                 " have received the last commit");
    }
  }
  return failure_;
}

void Listeners::OnHeard(Nanos commit_time, Clock::time_point now) {
  if (round_.heard++ == 0) {
    round_.first_heard = now;
    round_.time = commit_time;
  }
  if (commit_time != round_.time) Fail("listeners received different commits");
  round_.last_heard = std::max(round_.last_heard, now);
}

void Listeners::Fail(const std::string& why) {
  if (failure_.ok()) failure_ = Status(Code::kInternal, why);
}

}  // namespace hearth::bench
