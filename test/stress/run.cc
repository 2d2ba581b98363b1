#include "stress/run.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>
#include <utility>

#include "base/status_macros.h"

namespace hearth::stress {
namespace {

using support::ServerProcess;

constexpr size_t kReportEvery = 25;
constexpr size_t kPastReadsAfterStart = 12;
// Enough for a flush or two.
constexpr size_t kBulkBytesPerRound = 64 * 1024 * 1024;
constexpr size_t kStartMicrosMax = 60'000;
constexpr size_t kCreationMicrosMax = 25'000;

size_t FolderBytes(const std::string& folder) {
  size_t bytes = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, gone)) {
    const uintmax_t size = entry.is_regular_file(gone) ? entry.file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace

Run::Run(const RunOptions& options)
    : options_(options), folder_(options.data + "/data"), random_(options.seed) {
  for (size_t i = 0; i < options.clients; ++i) {
    own_.push_back(std::make_unique<OwnDocuments>(i));
    workloads_.push_back(own_.back().get());
  }
  workloads_.insert(workloads_.end(), {&groups_, &counters_, &accounts_, &archive_});
}

std::unique_ptr<ServerProcess> Run::Start(const std::string& folder) const {
  // A small cache, so that reads reach the files.
  const std::vector<std::string> arguments = {"serve",       "--data",      folder, "--listen",
                                              "127.0.0.1:0", "--cache-mib", "8"};
  return std::make_unique<ServerProcess>(options_.server, arguments);
}

void Run::SleepMicros(size_t micros_max) {
  std::this_thread::sleep_for(std::chrono::microseconds(Below(random_, micros_max)));
}

bool Run::Execute() {
  while (kills_ < options_.kills && !referee_.failed()) {
    const size_t choice = Below(random_, 20);
    if (kills_ == 0 || choice == 0) {
      KillDuringCreation();
    } else if (choice <= 3) {
      KillDuringStart();
    } else if (choice == 4) {
      ServeAndEnd(End::kStop);
    } else {
      ServeAndEnd(End::kKill);
    }
    if (kills_ % kReportEvery == 0) Report();
  }
  // What was stored after the last kill is still there after a regular stop.
  for (int i = 0; i < 2 && !referee_.failed(); ++i) ServeAndEnd(End::kStop);
  Report();
  return !referee_.failed();
}

void Run::KillDuringStart() {
  const std::unique_ptr<ServerProcess> server = Start(folder_);
  SleepMicros(kStartMicrosMax);
  server->Kill();
  ++kills_;
}

void Run::KillDuringCreation() {
  const std::string folder = options_.data + "/new";
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  {
    const std::unique_ptr<ServerProcess> server = Start(folder);
    SleepMicros(kCreationMicrosMax);
    server->Kill();
    ++kills_;
  }
  const std::unique_ptr<ServerProcess> server = Start(folder);
  if (!server->WaitUntilListening()) {
    referee_.Fail("no start after a kill during the creation of the folder: " + server->Stderr());
  }
}

void Run::ServeAndEnd(End end) {
  const std::unique_ptr<ServerProcess> server = Start(folder_);
  if (!server->WaitUntilListening()) {
    return referee_.Fail("the server does not start after a kill: " + server->Stderr());
  }
  Verify(server->port());
  if (referee_.failed()) return;

  const bool is_bulk_round = OneIn(random_, 8);
  archive_.Allow(is_bulk_round ? kBulkBytesPerRound : 0);
  std::vector<std::thread> clients;
  for (size_t i = 0; i < options_.clients; ++i) {
    clients.emplace_back(
        [this, i, port = server->port(), seed = random_()] { RunClient(port, i, seed); });
  }
  const size_t choice = Below(random_, 10);
  SleepMicros(is_bulk_round || choice == 0 ? 1'500'000 : choice < 5 ? 50'000 : 400'000);
  if (end == End::kKill) {
    server->Kill();
    ++kills_;
  } else {
    server->Signal(SIGTERM);
    if (server->Wait().code != 0) {
      referee_.Fail("a stop did not end with exit code 0: " + server->Stderr());
    }
    ++stops_;
  }
  for (std::thread& client : clients) client.join();
}

void Run::RunClient(uint16_t port, size_t client, uint64_t seed) {
  Random random(seed);
  FirestoreClient connection(port);
  const Session session{connection, referee_, random};
  while (connection.is_connected() && !connection.is_lost() && !referee_.failed()) {
    Step(session, client);
  }
}

void Run::Step(const Session& session, size_t client) {
  if (archive_.wants_more() && OneIn(session.random, 2)) return archive_.Step(session);
  switch (Below(session.random, 20)) {
    case 0:
      return referee_.CheckPast(session.client, session.random);
    case 1:
    case 2:
      return counters_.Step(session);
    case 3:
    case 4:
    case 5:
      return accounts_.Step(session);
    case 6:
    case 7:
    case 8:
    case 9:
      return groups_.Step(session);
    default:
      return own_[client]->Step(session);
  }
}

void Run::Verify(uint16_t port) {
  FirestoreClient client(port);
  if (!std::exchange(accounts_are_open_, true)) accounts_.Open({client, referee_, random_});
  if (const Status verified = VerifyAll(client); !verified.ok()) {
    return referee_.Fail("after kill " + std::to_string(kills_) + ": " + verified.message());
  }
  for (size_t i = 0; i < kPastReadsAfterStart; ++i) referee_.CheckPast(client, random_);
  if (client.is_lost()) referee_.Fail("the server ended by itself");
}

Status Run::VerifyAll(FirestoreClient& client) {
  archive_.Choose(random_);
  std::vector<std::string> paths;
  for (const Workload* workload : workloads_) {
    const std::vector<std::string> more = workload->Paths();
    paths.insert(paths.end(), more.begin(), more.end());
  }
  const Time newest = referee_.newest();
  ASSIGN_OR_RETURN(const World world, ReadWorld(client, paths));
  referee_.SawReadTime(newest, world.read_time);
  for (Workload* workload : workloads_) RETURN_IF_ERROR(workload->Verify(world, referee_));
  RETURN_IF_ERROR(CompareListings(client, world));
  referee_.Remember(world, random_);
  return Status();
}

Status Run::CompareListings(FirestoreClient& client, const World& world) const {
  std::map<std::string, State> wanted;
  std::set<std::string> collections;
  for (const auto& [path, state] : world.documents) {
    if (std::count(path.begin(), path.end(), '/') != 1) continue;
    collections.insert(path.substr(0, path.find('/')));
    if (state) wanted[path] = state;
  }
  std::map<std::string, State> listed;
  for (const std::string& collection : collections) {
    ASSIGN_OR_RETURN(auto found, ListCollection(client, collection, world.read_time));
    listed.merge(found);
  }
  for (const auto& [path, state] : wanted) {
    if (!listed.contains(path)) return DataLoss(path + " is there but not listed");
    if (listed.at(path) != state) return DataLoss(path + " is listed in another state");
  }
  if (listed.size() == wanted.size()) return Status();
  return DataLoss("a listing has documents that nobody wrote");
}

void Run::Report() const {
  const Referee::Counts& counts = referee_.counts;
  std::printf(
      "%zu of %zu kills, %zu stops; commits: %llu acknowledged, %llu refused, %llu unanswered; "
      "documents of unanswered commits found: %llu; reads: %llu, of the past %llu; data: %zu MiB\n",
      kills_, options_.kills, stops_, static_cast<unsigned long long>(counts.acknowledged),
      static_cast<unsigned long long>(counts.refused),
      static_cast<unsigned long long>(counts.unanswered),
      static_cast<unsigned long long>(counts.happened_unanswered),
      static_cast<unsigned long long>(counts.reads),
      static_cast<unsigned long long>(counts.past_reads), FolderBytes(folder_) >> 20);
  std::fflush(stdout);
}

}  // namespace hearth::stress
