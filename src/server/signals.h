#pragma once

#include <pthread.h>
#include <signal.h>

#include <functional>

namespace hearth::server {

// SIGTERM, SIGINT and SIGHUP, taken off every thread so that Wait can receive them.
class Signals {
 public:
  // To be made before any other thread starts: they inherit the mask.
  Signals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    signal(SIGPIPE, SIG_IGN);  // A client that went away is an error code, not a signal.
  }

  // Calls `reload` for every SIGHUP. Returns the first other signal; the next one ends the process.
  int Wait(const std::function<void()>& reload) const {
    int received = 0;
    while (sigwait(&signals_, &received) == 0 && received == SIGHUP) reload();
    signal(SIGHUP, SIG_IGN);  // There is nothing to reload for.
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    return received;
  }

 private:
  sigset_t signals_;
};

}  // namespace hearth::server
