#include "apps/feed/testing/redis_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "apps/feed/redis/redis_connection.h"
#include "apps/feed/redis/redis_slots.h"
#include "base/check.h"
#include "http/testing/test_socket.h"

namespace hearth::feed {
namespace {

constexpr std::chrono::seconds kPatience{20};
constexpr std::chrono::milliseconds kPollEvery{10};

// Other processes show that they are ready by answering, so they are polled.
bool WaitUntil(const std::function<bool()>& is_true) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kPollEvery);
  }
  return true;
}

}  // namespace

RedisServer::RedisServer(const std::vector<std::string>& more_arguments)
    : more_arguments_(more_arguments), port_(http::FreePort()) {
  Start();
}

RedisServer::~RedisServer() { Kill(); }

void RedisServer::Start() {
  std::vector<std::string> arguments = {"redis-server",
                                        "--port",
                                        std::to_string(port_),
                                        "--bind",
                                        "127.0.0.1",
                                        "--dir",
                                        folder_.path(),
                                        "--save",
                                        "",
                                        "--appendonly",
                                        "no",
                                        "--daemonize",
                                        "no",
                                        "--logfile",
                                        folder_ / "redis.log",
                                        "--enable-debug-command",
                                        "yes"};
  arguments.insert(arguments.end(), more_arguments_.begin(), more_arguments_.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_ = fork();
  CHECK(pid_ >= 0);
  if (pid_ == 0) {  // Only async-signal-safe functions after a fork with threads.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  CHECK(WaitUntil([&] {
    CHECK(waitpid(pid_, nullptr, WNOHANG) == 0);  // It has not ended.
    return IsServing();
  }));
}

bool RedisServer::IsServing() {
  Result<std::unique_ptr<RedisConnection>> connection = RedisConnection::Open(address(), kPatience);
  if (!connection.ok()) return false;
  const RedisArguments ping = {"PING"};
  const Result<std::vector<RedisReply>> replies = (*connection)->Exchange({&ping, 1}, kPatience);
  return replies.ok() && replies->front().text == "PONG";
}

void RedisServer::Kill() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  CHECK(waitpid(pid_, nullptr, 0) == pid_);
  pid_ = 0;
}

void RedisServer::Restart() {
  Kill();
  Start();
}

void RedisServer::Pause() {
  kill(pid_, SIGSTOP);
  int status = 0;
  CHECK(waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status));
}

void RedisServer::Resume() { kill(pid_, SIGCONT); }

void RedisServer::Flush() { Command({"FLUSHALL"}); }

RedisReply RedisServer::Command(const std::vector<std::string>& arguments) {
  Result<std::unique_ptr<RedisConnection>> connection = RedisConnection::Open(address(), kPatience);
  CHECK(connection.ok());
  Result<std::vector<RedisReply>> replies = (*connection)->Exchange({&arguments, 1}, kPatience);
  CHECK(replies.ok());
  return replies->front();
}

RedisCluster::RedisCluster() {
  for (size_t i = 0; i < kNodes; ++i) {
    nodes_.push_back(std::make_unique<RedisServer>(std::vector<std::string>{
        "--cluster-enabled", "yes", "--cluster-port", std::to_string(http::FreePort()),
        "--cluster-node-timeout", "5000"}));
    const size_t first = kRedisSlots * i / kNodes;
    const size_t last = kRedisSlots * (i + 1) / kNodes - 1;
    node(i).Command({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    node(i).Command({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
  }
  for (size_t i = 1; i < kNodes; ++i) {
    const RedisReply bus = node(i).Command({"CONFIG", "GET", "cluster-port"});
    node(0).Command({"CLUSTER", "MEET", "127.0.0.1", std::to_string(node(i).address().port),
                     bus.elements.at(1).text});
  }
  CHECK(WaitUntil([&] { return IsWhole(); }));
}

bool RedisCluster::IsWhole() {
  for (const std::unique_ptr<RedisServer>& server : nodes_) {
    const std::string info = server->Command({"CLUSTER", "INFO"}).text;
    const std::string known = "cluster_known_nodes:" + std::to_string(kNodes);
    if (info.find("cluster_state:ok") == std::string::npos) return false;
    if (info.find(known) == std::string::npos) return false;
    if (server->Command({"CLUSTER", "SLOTS"}).elements.size() != kNodes) return false;
  }
  return true;
}

std::vector<RedisAddress> RedisCluster::addresses() const {
  std::vector<RedisAddress> addresses;
  for (const std::unique_ptr<RedisServer>& server : nodes_) addresses.push_back(server->address());
  return addresses;
}

size_t RedisCluster::HomeOf(const std::string& key) const {
  size_t home = 0;
  while (RedisSlotOf(key) >= kRedisSlots * (home + 1) / kNodes) ++home;
  return home;
}

void RedisCluster::CommandEverywhere(const std::vector<std::string>& arguments) {
  for (const std::unique_ptr<RedisServer>& server : nodes_) server->Command(arguments);
}

}  // namespace hearth::feed
