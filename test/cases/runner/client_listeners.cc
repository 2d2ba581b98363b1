#include "cases/runner/client_listeners.h"

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status_macros.h"
#include "cases/runner/client_convert.h"
#include "cases/runner/rpc.h"

namespace hearth::cases {
namespace {

// Queries and documents to listen to. Each uses one listener of the client.
class ClientListeners final : public Listeners {
 public:
  ClientListeners(client::Firestore database, std::string name)
      : database_(std::move(database)), name_(std::move(name)) {}

  std::optional<std::string> Add(const proto::Target& target) override {
    const Status status = Listen(target);
    if (status.ok()) return std::nullopt;
    return status.message();
  }

  void Remove(int target_id) override {
    listeners_.erase(target_id);
    Note({target_id, Status(), {}, true});
  }

  Status Advance(WatchState* state) override {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    MutexLock lock(mutex_);
    while (news_.empty()) {
      if (std::chrono::steady_clock::now() > end) return OutOfPatience();
      changed_.WaitFor(mutex_, std::chrono::seconds(1));
    }
    const News news = std::move(news_.front());
    news_.pop_front();
    if (news.is_end) {
      state->ApplyEnd(news.target_id, news.status);
    } else {
      state->ApplySnapshot(news.target_id, news.documents.list, news.documents.read_time);
    }
    return Status();
  }

 private:
  struct Documents {
    std::vector<proto::Document> list;
    Time read_time;
  };
  struct News {
    int target_id;
    Status status;
    Documents documents;
    bool is_end;
  };

  // InvalidArgument for what the client's API cannot express.
  Status Listen(const proto::Target& target) {
    const int id = target.target_id();
    const auto on_snapshot = [this, id](const auto& snapshot) {
      if (snapshot.ok()) {
        Note({id, Status(), DocumentsOf(*snapshot), false});
      } else {
        Note({id, snapshot.status(), {}, true});
      }
    };
    if (target.has_documents()) {
      ASSIGN_OR_RETURN(const std::string path,
                       ToClientPath(name_, target.documents().documents(0)));
      Keep(id, database_.Doc(path).Listen(on_snapshot));
      return Status();
    }
    ASSIGN_OR_RETURN(
        const client::Query query,
        ToClient(database_, target.query().parent(), target.query().structured_query(), Last::kNo));
    Keep(id, query.Listen(on_snapshot));
    return Status();
  }
  void Keep(int target_id, Result<client::Listener> listener) {
    if (listener.ok()) {
      listeners_.emplace(target_id, *std::move(listener));
    } else {
      Note({target_id, listener.status(), {}, true});
    }
  }

  static Documents DocumentsOf(const client::QuerySnapshot& snapshot) {
    Documents documents;
    for (const client::DocumentSnapshot& each : snapshot.documents) {
      documents.list.push_back(ToProto(each));
    }
    documents.read_time = ToProto(snapshot.read_time);
    return documents;
  }
  static Documents DocumentsOf(const client::DocumentSnapshot& snapshot) {
    Documents documents;
    if (snapshot.exists()) documents.list.push_back(ToProto(snapshot));
    documents.read_time = ToProto(snapshot.read_time());
    return documents;
  }
  void Note(News news) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    news_.push_back(std::move(news));
    changed_.NotifyAll();
  }

  const client::Firestore database_;
  const std::string name_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<News> news_ GUARDED_BY(mutex_);
  std::map<int, client::Listener> listeners_;  // Destroyed first: their callbacks use the rest.
};

}  // namespace

std::unique_ptr<Listeners> NewClientListeners(client::Firestore database, std::string name) {
  return std::make_unique<ClientListeners>(std::move(database), std::move(name));
}

}  // namespace hearth::cases
