#include "doors/rest/rest_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "doors/rest/testing/root.h"
#include "google/firestore/v1/firestore.pb.h"
#include "http/gzip.h"
#include "http/testing/test_http2_client.h"
#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::doors::rest {
namespace {

namespace proto = ::google::firestore::v1;
using http::TestAnswer;
using http::TestHttp2Client;
using http::TestSocket;
using http::Watched;
using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr size_t kBodyBytesMax = 10'000;
constexpr size_t kLoopBodyBytesMax = 1'000;
constexpr size_t kPromptAnswerBytesMax = 2'000;

std::string Result1(const std::string& name) {
  proto::RunQueryResponse response;
  response.mutable_document()->set_name(name);
  return response.SerializeAsString();
}

class RestServiceTest : public testing::Test {
 protected:
  using Method = rpc::SingleRequestMethod;

  void Add(const std::string& name, Method method) {
    methods_.Add("/google.firestore.v1.Firestore/" + name, std::move(method));
  }
  void Start() {
    server_.router.AddService("/v1/", service_);
    server_.options.memory = &memory_;
    server_.Start();
  }

  // Sends one request on a connection of its own; returns the whole answer as text.
  std::string Ask(std::string_view method, const std::string& target, const std::string& body = "",
                  const std::string& more_headers = "") {
    TestSocket socket(server_.port());
    socket.Send(std::string(method) + " " + kRoot + target + " HTTP/1.1\r\nhost: localhost\r\n" +
                "connection: close\r\ncontent-length: " + std::to_string(body.size()) + "\r\n" +
                more_headers + "\r\n" + body);
    return socket.ReadToEnd();
  }
  static std::string BodyOf(const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }
  // Over HTTP/2, where the body is not chunked.
  TestAnswer Ask2(std::string_view method, const std::string& target, std::string_view body = "") {
    TestHttp2Client client(server_.port());
    const int32_t stream =
        client.Open(method, kRoot + target, {{"origin", "http://localhost:5173"}});
    client.SendBody(stream, body);
    client.EndBody(stream);
    EXPECT_TRUE(client.UntilClosed(stream));
    return client.answer(stream);
  }

  Status RunInBackground(Task task) {
    ++background_tasks_;
    if (!background_status_.ok()) return background_status_;
    if (holds_background_tasks_) {
      held_task_ = std::move(task);
      return Status();
    }
    background_thread_ = std::jthread(std::move(task));
    return Status();
  }

  MemoryBudget memory_{4 * 1024 * 1024};
  rpc::Methods methods_;
  http::TestServer server_;
  Status background_status_;
  std::atomic<int> background_tasks_ = 0;
  std::jthread background_thread_;
  bool holds_background_tasks_ = false;
  Task held_task_;  // The newest one.
  RestService service_{methods_,
                       [this](ClientKey, Task task) { return RunInBackground(std::move(task)); },
                       {.body_bytes_max = kBodyBytesMax,
                        .loop_body_bytes_max = kLoopBodyBytesMax,
                        .prompt_answer_bytes_max = kPromptAnswerBytesMax,
                        .memory = &memory_}};
};

TEST_F(RestServiceTest, AnswersWithAnObject) {
  std::string method_saw;
  Add("GetDocument", [&](const std::shared_ptr<rpc::Call>& call, std::string_view bytes) {
    proto::GetDocumentRequest request;
    ASSERT_TRUE(request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    method_saw = call->head().Find("authorization").value_or("");
    proto::Document document;
    document.set_name(request.name());
    call->Respond(document.SerializeAsString());
  });
  Start();
  const std::string answer =
      Ask("GET", "/c/a%20b?prettyPrint=false", "", "authorization: Bearer owner\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("content-type: application/json; charset=UTF-8\r\n"));
  EXPECT_EQ(BodyOf(answer), "{\"name\":\"projects/p/databases/d/documents/c/a b\"}\n");
  EXPECT_EQ(method_saw, "Bearer owner");
  EXPECT_THAT(Ask("HEAD", "/c/a"), EndsWith("\r\n\r\n"));
  EXPECT_THAT(Ask("POST", "/c/a", "", "x-http-method-override: GET\r\n"),
              StartsWith("HTTP/1.1 200 "));
  const TestAnswer answer2 = Ask2("GET", "/c/a");
  EXPECT_EQ(answer2.http_status(), 200);
  EXPECT_EQ(json::parse(answer2.body)["name"], "projects/p/databases/d/documents/c/a");
  EXPECT_EQ(answer2.headers.at("access-control-allow-origin"), "http://localhost:5173");
}

TEST_F(RestServiceTest, AnEmptyAnswerIsAnEmptyObject) {
  Add("DeleteDocument", [](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    call->Respond(std::string());
  });
  Start();
  EXPECT_EQ(BodyOf(Ask("DELETE", "/c/a")), "{}\n");
}

TEST_F(RestServiceTest, AnswersWithAList) {
  Add("RunQuery", [](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    call->Send(Result1("a"));
    rpc::MessageBatch batch;
    batch.Add(Result1("b"));
    batch.Add(Result1("c"));
    call->Send(std::move(batch));
    rpc::MessageBatch last;
    last.Add(Result1("d"));
    call->Finish(std::move(last), Status());
  });
  Add("BatchGetDocuments",
      [](const std::shared_ptr<rpc::Call>& call, std::string_view) { call->Finish(Status()); });
  Start();
  EXPECT_EQ(Ask2("POST", ":runQuery?prettyPrint=false").body,
            "[{\"document\":{\"name\":\"a\"}}\n,\n{\"document\":{\"name\":\"b\"}}\n,\n"
            "{\"document\":{\"name\":\"c\"}}\n,\n{\"document\":{\"name\":\"d\"}}\n]\n");
  EXPECT_EQ(json::parse(Ask2("POST", ":runQuery").body).size(), 4u);
  EXPECT_EQ(Ask2("POST", ":batchGet").body, "[]\n");
}

TEST_F(RestServiceTest, WorksFromOtherThreads) {
  std::jthread worker;
  Add("RunQuery", [&](std::shared_ptr<rpc::Call> call, std::string_view) {
    worker = std::jthread([call = std::move(call)] {
      for (int i = 0; i < 100; ++i) call->Send(Result1(std::to_string(i)));
      call->Finish(Status());
    });
  });
  Start();
  const json list = json::parse(Ask2("POST", ":runQuery").body);
  ASSERT_EQ(list.size(), 100u);
  EXPECT_EQ(list[99]["document"]["name"], "99");
}

TEST_F(RestServiceTest, ErrorsAreObjectsOrInLists) {
  const Status missing(Code::kNotFound, "no \"x\"");
  Add("GetDocument",
      [&](const std::shared_ptr<rpc::Call>& call, std::string_view) { call->Respond(missing); });
  Add("RunQuery",
      [&](const std::shared_ptr<rpc::Call>& call, std::string_view) { call->Finish(missing); });
  Add("RunAggregationQuery", [&](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    call->Send(std::string());
    call->Finish(missing);
  });
  Start();
  const json error = {{"error", {{"code", 404}, {"message", "no \"x\""}, {"status", "NOT_FOUND"}}}};
  const TestAnswer single = Ask2("GET", "/c/a");
  EXPECT_EQ(single.http_status(), 404);
  EXPECT_EQ(json::parse(single.body), error);
  EXPECT_EQ(single.headers.at("access-control-allow-origin"), "http://localhost:5173");
  const TestAnswer at_once = Ask2("POST", ":runQuery");
  EXPECT_EQ(at_once.http_status(), 404);
  EXPECT_EQ(json::parse(at_once.body), json::array({error}));
  const TestAnswer later = Ask2("POST", ":runAggregationQuery");
  EXPECT_EQ(later.http_status(), 200);
  EXPECT_EQ(json::parse(later.body), json::array({json::object(), error}));
}

TEST_F(RestServiceTest, RefusesWhatItCannotRead) {
  const auto fail = [](const std::shared_ptr<rpc::Call>&, std::string_view) { FAIL(); };
  Add("Commit", fail);
  Add("RunQuery", fail);
  Add("GetDocument", fail);
  Start();
  EXPECT_THAT(Ask("POST", ":commit", "{"), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(json::parse(BodyOf(Ask("POST", ":runQuery", "{")))[0]["error"]["code"], 400);
  EXPECT_THAT(Ask("GET", "/c/a?x=1"), HasSubstr("Cannot bind query parameter."));
  EXPECT_THAT(Ask("GET", "/c/a?x=%"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Ask("GET", "/c/a?alt=proto"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Ask("POST", ":commit", std::string(5'000, '[')), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Ask("POST", ":commit", "{}", "content-encoding: br\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Ask("POST", ":commit", "{}", "content-encoding: gzip\r\n"),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(RestServiceTest, BoundsTheBody) {
  size_t writes = 0;
  Add("Commit", [&](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    ++writes;
    call->Respond(std::string());
  });
  Start();
  const auto padded = [](size_t bytes) { return "{}" + std::string(bytes - 2, ' '); };
  EXPECT_THAT(Ask("POST", ":commit", padded(kBodyBytesMax)), StartsWith("HTTP/1.1 200 "));
  const std::string large = Ask("POST", ":commit", padded(kBodyBytesMax + 1));
  EXPECT_THAT(large, StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(json::parse(BodyOf(large))["error"]["code"], 413);
  const std::string gzip = "content-encoding: gzip\r\n";
  EXPECT_THAT(Ask("POST", ":commit", http::Gzip(padded(kBodyBytesMax)), gzip),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask("POST", ":commit", http::Gzip(padded(kBodyBytesMax + 1)), gzip),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(writes, 2u);
}

TEST_F(RestServiceTest, ReadsLongBodiesInTheBackground) {
  Add("Commit", [](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    call->Respond(std::string());
  });
  Start();
  const auto padded = [](size_t bytes) { return "{}" + std::string(bytes - 2, ' '); };
  EXPECT_THAT(Ask("POST", ":commit", padded(kLoopBodyBytesMax)), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(background_tasks_, 0);
  EXPECT_THAT(Ask("POST", ":commit", padded(kLoopBodyBytesMax + 1)), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(background_tasks_, 1);
  EXPECT_THAT(Ask("POST", ":commit", "x" + padded(kLoopBodyBytesMax)), StartsWith("HTTP/1.1 400 "));
  background_status_ = Status(Code::kUnavailable, "busy");
  EXPECT_THAT(Ask("POST", ":commit", padded(kLoopBodyBytesMax + 1)), StartsWith("HTTP/1.1 503 "));
}

std::string DocumentOf(size_t bytes) {
  proto::Document document;
  document.set_name(std::string(bytes - 3, 'n'));  // With its tag and size.
  EXPECT_EQ(document.ByteSizeLong(), bytes);
  return document.SerializeAsString();
}

TEST_F(RestServiceTest, LongAnswersAreEncodedInTheBackground) {
  std::string document;
  Add("GetDocument",
      [&](const std::shared_ptr<rpc::Call>& call, std::string_view) { call->Respond(document); });
  Start();
  document = DocumentOf(kPromptAnswerBytesMax);
  EXPECT_THAT(Ask("GET", "/c/a"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(background_tasks_, 0);
  document = DocumentOf(kPromptAnswerBytesMax + 1);
  const std::string answer = Ask("GET", "/c/a");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(json::parse(BodyOf(answer))["name"], std::string(kPromptAnswerBytesMax - 2, 'n'));
  EXPECT_EQ(background_tasks_, 1);
  background_status_ = Status(Code::kResourceExhausted, "busy");
  EXPECT_THAT(Ask("GET", "/c/a"), StartsWith("HTTP/1.1 429 "));
  background_status_ = Status();
  document = "\xff" + document;  // Not a message.
  EXPECT_THAT(Ask("GET", "/c/a"), StartsWith("HTTP/1.1 500 "));
}

TEST_F(RestServiceTest, ElementsOfAListKeepTheirOrderHoweverLongTheyAre) {
  const std::vector<size_t> lengths = {10, 5'000, 20, 6'000, 7'000, 30, 40};
  bool fails = false;
  Add("RunQuery", [&](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    for (const size_t length : lengths) call->Send(Result1(std::string(length, 'x')));
    call->Finish(fails ? Status(Code::kAborted, "enough") : Status());
  });
  Start();
  const auto lengths_in = [](const json& list) {
    std::vector<size_t> all;
    for (const json& element : list) {
      if (element.contains("document")) {
        all.push_back(std::string(element["document"]["name"]).size());
      }
    }
    return all;
  };
  EXPECT_EQ(lengths_in(json::parse(Ask2("POST", ":runQuery").body)), lengths);
  EXPECT_EQ(background_tasks_, 3);
  fails = true;
  const json failed = json::parse(Ask2("POST", ":runQuery").body);
  EXPECT_EQ(lengths_in(failed), lengths);
  EXPECT_EQ(failed.back()["error"]["status"], "ABORTED");
  // The first long element cannot be written, so none of the later ones is.
  background_status_ = Status(Code::kResourceExhausted, "busy");
  const json refused = json::parse(Ask2("POST", ":runQuery").body);
  EXPECT_EQ(lengths_in(refused), std::vector<size_t>{10});
  EXPECT_EQ(refused.back()["error"]["message"], "busy");
}

TEST_F(RestServiceTest, MessagesInTheBackgroundAreClaimedAfterTheirClientHasLeft) {
  constexpr size_t kBytes = 100'000;
  holds_background_tasks_ = true;
  Watched<bool> leave;
  Watched<bool> left;
  Add("RunQuery", [&](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    call->OnCancelled([&] { left.Update([](bool& value) { value = true; }); });
    for (int i = 0; i < 10; ++i) call->Send(Result1(std::string(kBytes, 'x')));
    leave.Update([](bool& value) { value = true; });
  });
  Start();
  {
    TestHttp2Client client(server_.port());
    client.EndBody(client.Open("POST", std::string(kRoot) + ":runQuery", {}));
    client.Flush();
    ASSERT_TRUE(leave.WaitFor([](bool value) { return value; }));
    EXPECT_GE(memory_.used_bytes(), 10 * kBytes);
  }
  EXPECT_TRUE(left.WaitFor([](bool value) { return value; }));
  server_.server.reset();
  EXPECT_EQ(background_tasks_, 1);
  EXPECT_GE(memory_.used_bytes(), kBytes);
  EXPECT_LT(memory_.used_bytes(), 2 * kBytes);
  // Nobody needs the JSON: nothing is claimed for it.
  const size_t free_bytes = memory_.bytes_max() - memory_.used_bytes();
  memory_.Take(free_bytes);
  std::exchange(held_task_, nullptr)();
  EXPECT_EQ(memory_.refusals(), 0u);
  memory_.Return(free_bytes);
  EXPECT_EQ(memory_.used_bytes(), 0u);
}

// The first element has just been converted when there is no memory for the second one.
TEST_F(RestServiceTest, ABrokenListIsNeverWrittenAsIfItWereWhole) {
  const std::string element = Result1(std::string(50'000, 'x'));
  // Enough for an element, but not for a client that already holds another one.
  const size_t taken_bytes = memory_.bytes_max() * 15 / 16;
  Add("RunQuery", [&](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    call->Send(element);
    background_thread_.join();
    memory_.Take(taken_bytes);
    call->Send(element);
    memory_.Return(taken_bytes);
    call->Finish(Status());
  });
  Start();
  const json list = json::parse(Ask2("POST", ":runQuery").body);
  EXPECT_EQ(background_tasks_, 1);
  ASSERT_TRUE(list.back().contains("error"));
  EXPECT_EQ(list.back()["error"]["status"], "RESOURCE_EXHAUSTED");
}

TEST_F(RestServiceTest, AnswersForWhichThereIsNoMemoryAreErrors) {
  Add("GetDocument", [&](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    proto::Document document;
    auto& values = *(*document.mutable_fields())["a"].mutable_array_value();
    for (int i = 0; i < 50'000; ++i) values.add_values()->set_null_value({});
    call->Respond(document.SerializeAsString());
  });
  Start();
  // A message of 200 kB, objects of 6 MB.
  EXPECT_THAT(Ask("GET", "/c/a"), StartsWith("HTTP/1.1 429 "));
}

TEST_F(RestServiceTest, BodiesForWhichThereIsNoMemoryAreNotTheClientsFault) {
  Add("Commit", [](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    call->Respond(std::string());
  });
  Start();
  const std::string body = http::Gzip("{}");
  const std::string gzip = "content-encoding: gzip\r\n";
  memory_.Take(memory_.bytes_max() - 128 * 1024);
  EXPECT_THAT(Ask("POST", ":commit", body, gzip), StartsWith("HTTP/1.1 429 "));
  memory_.Return(memory_.bytes_max() - 128 * 1024);
  EXPECT_THAT(Ask("POST", ":commit", body, gzip), StartsWith("HTTP/1.1 200 "));
}

TEST_F(RestServiceTest, AnswersForWhatIsNotThere) {
  methods_.Add("/google.firestore.v1.Firestore/Listen",
               rpc::StreamMethod([](const std::shared_ptr<rpc::Call>&) { return nullptr; }));
  Start();
  const std::string unknown = Ask("GET", ":nope", "", "origin: http://localhost:5173\r\n");
  EXPECT_THAT(unknown, StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(unknown, HasSubstr("access-control-allow-origin: http://localhost:5173\r\n"));
  EXPECT_EQ(json::parse(BodyOf(unknown))["error"]["message"], "Method not found.");
  EXPECT_THAT(Ask("PUT", "/c/a"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask("POST", ":listen"), StartsWith("HTTP/1.1 501 "));
  EXPECT_THAT(Ask("POST", ":executePipeline"), StartsWith("HTTP/1.1 501 "));
  const std::string preflight = Ask("OPTIONS", ":commit", "",
                                    "origin: http://localhost:5173\r\n"
                                    "access-control-request-method: POST\r\n"
                                    "access-control-request-headers: content-type\r\n");
  EXPECT_THAT(preflight, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(preflight, HasSubstr("access-control-allow-headers: content-type\r\n"));
}

// Sends `left` results of about 10,000 bytes each, as fast as the client reads.
class Producer : public std::enable_shared_from_this<Producer> {
 public:
  Producer(std::shared_ptr<rpc::Call> call, int left, Watched<int>& sent)
      : call_(std::move(call)), left_(left), sent_(sent) {}

  void Run() {
    if (left_-- == 0) return call_->Finish(Status());
    call_->Send(Result1(std::string(10'000, 'x')));
    sent_.Update([](int& count) { ++count; });
    call_->WhenWritable([self = shared_from_this()] { self->Run(); });
  }

 private:
  const std::shared_ptr<rpc::Call> call_;  // Shared with the connection.
  int left_;
  Watched<int>& sent_;
};

TEST_F(RestServiceTest, AListGrowsNoFasterThanItIsRead) {
  Watched<int> sent;
  Watched<bool> cancelled;
  Add("RunQuery", [&](std::shared_ptr<rpc::Call> call, std::string_view) {
    call->OnCancelled([&] { cancelled.Update([](bool& value) { value = true; }); });
    std::make_shared<Producer>(std::move(call), 2'000, sent)->Run();
  });
  Start();
  {
    TestHttp2Client client(server_.port(), {.opens_windows = false});
    const int32_t stream = client.Open("POST", std::string(kRoot) + ":runQuery", {});
    client.EndBody(stream);
    // The client's window of 65,535 bytes fills up, and then the send queue.
    ASSERT_TRUE(client.Until([&] { return client.answer(stream).body.size() == 65'535; }));
    ASSERT_TRUE(client.RoundTrip());
    ASSERT_TRUE(client.RoundTrip());
    EXPECT_LE(sent.Get(), 15);
    EXPECT_FALSE(cancelled.Get());
    client.Reset(stream);
    ASSERT_TRUE(client.RoundTrip());
  }
  EXPECT_TRUE(cancelled.WaitFor([](bool value) { return value; }));
}

TEST_F(RestServiceTest, ALongListArrivesWhole) {
  Watched<int> sent;
  Add("RunQuery", [&](std::shared_ptr<rpc::Call> call, std::string_view) {
    std::make_shared<Producer>(std::move(call), 500, sent)->Run();
  });
  Start();
  EXPECT_EQ(json::parse(Ask2("POST", ":runQuery").body).size(), 500u);
}

TEST_F(RestServiceTest, AClientThatLeavesCancelsItsCall) {
  Watched<std::shared_ptr<rpc::Call>> waiting;
  Watched<bool> cancelled;
  Add("Commit", [&](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    call->OnCancelled([&] { cancelled.Update([](bool& value) { value = true; }); });
    waiting.Update([&](auto& held) { held = call; });
  });
  Start();
  {
    TestHttp2Client client(server_.port());
    const int32_t stream = client.Open("POST", std::string(kRoot) + ":commit", {});
    client.EndBody(stream);
    client.Flush();
    ASSERT_TRUE(waiting.WaitFor([](const auto& held) { return held != nullptr; }));
  }
  EXPECT_TRUE(cancelled.WaitFor([](bool value) { return value; }));
  const std::shared_ptr<rpc::Call> call = waiting.Get();
  EXPECT_TRUE(call->closed());
  call->Respond(std::string());  // No effect.
}

TEST_F(RestServiceTest, AClientOfHttp1ThatLeavesCancelsItsCall) {
  Watched<bool> started;
  Watched<bool> cancelled;
  std::shared_ptr<rpc::Call> held;
  Add("Commit", [&](const std::shared_ptr<rpc::Call>& call, std::string_view) {
    call->OnCancelled([&] { cancelled.Update([](bool& value) { value = true; }); });
    held = call;
    started.Update([](bool& value) { value = true; });
  });
  Start();
  TestSocket socket(server_.port());
  socket.Send(std::string("POST ") + kRoot +
              ":commit HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
  ASSERT_TRUE(started.WaitFor([](bool value) { return value; }));
  socket.Close();
  EXPECT_TRUE(cancelled.WaitFor([](bool value) { return value; }));
  EXPECT_TRUE(held->closed());
}

TEST_F(RestServiceTest, AReaderOfHttp1ThatLeavesCancelsItsCall) {
  Watched<int> sent;
  Watched<bool> cancelled;
  Add("RunQuery", [&](std::shared_ptr<rpc::Call> call, std::string_view) {
    call->OnCancelled([&] { cancelled.Update([](bool& value) { value = true; }); });
    const int endless = -1;
    std::make_shared<Producer>(std::move(call), endless, sent)->Run();
  });
  Start();
  TestSocket socket(server_.port());
  socket.Send(std::string("POST ") + kRoot +
              ":runQuery HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
  EXPECT_THAT(socket.ReadSome(), StartsWith("HTTP/1.1 200 "));
  socket.Close();
  EXPECT_TRUE(cancelled.WaitFor([](bool value) { return value; }));
}

}  // namespace
}  // namespace hearth::doors::rest
