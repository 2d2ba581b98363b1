// A gRPC server that answers every unary Firestore method with the same bytes: the upper bound for
// the server's own benchmarks, on the same HTTP stack.
#include <pthread.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "doors/grpc/grpc_service.h"
#include "http/server.h"
#include "rpc/methods.h"

namespace {

using namespace hearth;
using namespace hearth::http;

// About the size of a GetDocument answer for a document of ten small fields.
constexpr size_t kBuiltInAnswerBytes = 400;
constexpr std::chrono::milliseconds kDrainTimeout{1'000};

// A protobuf message with one unknown bytes field, so that clients can parse it.
std::string BuiltInAnswer() {
  std::string answer = "\x92\x3f";  // Field 1010, length-delimited.
  constexpr size_t kPayloadBytes = kBuiltInAnswerBytes - 4;
  answer += static_cast<char>((kPayloadBytes & 0x7f) | 0x80);
  answer += static_cast<char>(kPayloadBytes >> 7);
  answer.append(kPayloadBytes, 'x');
  return answer;
}

// The answer to `method`: the file of that name in `folder`, or the built-in one.
std::string AnswerTo(const std::string& method, const std::string& folder) {
  std::ifstream file(folder + "/" + method + ".message", std::ios::binary);
  if (folder.empty() || !file) return BuiltInAnswer();
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int Serve(const std::string& listen, size_t loops, const std::string& answers_folder) {
  const size_t colon = listen.rfind(':');
  ListenAddress address = {.host = listen.substr(0, colon), .port = 0};
  if (colon != std::string::npos) {
    std::from_chars(listen.data() + colon + 1, listen.data() + listen.size(), address.port);
  }

  rpc::Methods methods;
  for (const char* method :
       {"BatchGetDocuments", "BatchWrite", "BeginTransaction", "Commit", "CreateDocument",
        "DeleteDocument", "GetDocument", "ListCollectionIds", "ListDocuments", "PartitionQuery",
        "Rollback", "RunAggregationQuery", "RunQuery", "UpdateDocument"}) {
    methods.Add(std::string("/google.firestore.v1.Firestore/") + method,
                rpc::SingleRequestMethod([answer = AnswerTo(method, answers_folder)](
                                             std::shared_ptr<rpc::Call> call, std::string_view) {
                  call->Respond(answer);
                }));
  }
  doors::grpc::GrpcService service(methods);
  // Blocked before the loops' threads start, so that only the sigwait below receives them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  Server server({.listen = {address}, .loops = loops}, service);
  if (const Status started = server.Start(); !started.ok()) {
    std::cerr << started.message() << "\n";
    return 1;
  }
  std::cout << "listening on 127.0.0.1:" << server.addresses().front().port << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  server.Drain(kDrainTimeout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Answers every unary Firestore method with a fixed message.");
  std::string listen = "127.0.0.1:0";
  size_t loops = 1;
  std::string answers_folder;
  app.add_option("--listen", listen, "HOST:PORT; port 0 picks a free one, which is printed");
  app.add_option("--loops", loops, "Event loops, one thread each")->check(CLI::PositiveNumber);
  app.add_option("--answers", answers_folder, "Folder with the answers: METHOD.message")
      ->check(CLI::ExistingDirectory);
  CLI11_PARSE(app, argc, argv);

  return Serve(listen, loops, answers_folder);
}
