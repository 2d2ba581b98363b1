#include "kit/web/lane.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>

#include "http/origin_policy.h"

namespace hearth::kit {
namespace {

constexpr char kThisMachine[] = "this machine";

}  // namespace

std::string AddressGroup(std::string_view peer) {
  if (http::IsLoopbackHost(peer)) return kThisMachine;
  const std::string text(peer);
  in6_addr address;
  if (inet_pton(AF_INET6, text.c_str(), &address) != 1) return text;
  std::fill(std::begin(address.s6_addr) + 8, std::end(address.s6_addr), uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> network;
  inet_ntop(AF_INET6, &address, network.data(), network.size());
  return std::string(network.data()) + "/64";
}

LaneOptions LaneOptions::Of(size_t threads, size_t queued_max) {
  return {.threads = threads,
          .queued_max = queued_max,
          .running_per_group_max = std::max<size_t>(1, threads * 3 / 4)};
}

Lane::Client Lane::Client::Of(const http::Exchange& exchange) {
  const ConnectedClient& client = *exchange.client();
  std::string group = AddressGroup(exchange.peer());
  const bool is_local = group.empty() || group == kThisMachine;  // Empty: already disconnected.
  if (is_local) group = std::to_string(static_cast<uint64_t>(client.key()));
  return {.group = std::move(group), .connection = &client};
}

Lane::~Lane() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
}

Lane::Admission Lane::TryPost(const Client& client, Task task) {
  {
    MutexLock lock(mutex_);
    if (queued_ >= options_.queued_max) return Admission::kFull;
    Group& group = groups_[client.group];
    if (group.queued >= options_.queued_max - queued_) return Admission::kShareUsed;
    auto connection = std::ranges::find(group.connections, client.connection,
                                        [](const Connection& one) { return one.id; });
    if (connection == group.connections.end()) {
      group.connections.push_back({.id = client.connection, .tasks = {}});
      connection = std::prev(group.connections.end());
    }
    connection->tasks.push_back(std::move(task));
    ++group.queued;
    ++queued_;
    LineUp(client.group, group);
    if (idle_threads_ < queued_ && threads_.size() < options_.threads) {
      threads_.emplace_back([this] { Run(); });
    }
  }
  changed_.NotifyOne();
  return Admission::kTaken;
}

size_t Lane::queued_tasks() const {
  MutexLock lock(mutex_);
  return queued_;
}

void Lane::LineUp(const std::string& name, Group& group) {
  if (group.has_turn || group.queued == 0) return;
  if (group.running >= options_.running_per_group_max) return;
  group.has_turn = true;
  turns_.push_back(name);
}

Task Lane::TakeNext(std::string* name) {
  *name = std::move(turns_.front());
  turns_.pop_front();
  Group& group = groups_.at(*name);
  group.has_turn = false;
  Connection& connection = group.connections.front();
  Task task = std::move(connection.tasks.front());
  connection.tasks.pop_front();
  if (connection.tasks.empty()) {
    group.connections.pop_front();
  } else {
    group.connections.splice(group.connections.end(), group.connections, group.connections.begin());
  }
  --group.queued;
  --queued_;
  ++group.running;
  LineUp(*name, group);
  return task;
}

void Lane::End(const std::string& name) {
  MutexLock lock(mutex_);
  const auto found = groups_.find(name);
  Group& group = found->second;
  --group.running;
  LineUp(name, group);  // This thread takes the turn: the others need not be woken.
  if (group.queued == 0 && group.running == 0) groups_.erase(found);
}

void Lane::Run() {
  while (true) {
    Task task;
    std::string name;
    {
      MutexLock lock(mutex_);
      ++idle_threads_;
      // A queued task without a turn waits for one of its group's that is running.
      while (turns_.empty() && !(stopping_ && queued_ == 0)) changed_.Wait(mutex_);
      --idle_threads_;
      if (turns_.empty()) return;
      task = TakeNext(&name);
      if (stopping_) changed_.NotifyAll();  // It may have been the last one.
    }
    task();
    task = Task();  // What it holds is freed before the client's next task starts.
    End(name);
  }
}

}  // namespace hearth::kit
