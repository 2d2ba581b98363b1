#pragma once

#include <pthread.h>
#include <signal.h>

#include <functional>

namespace hearth::server {

// SIGTERM, SIGINT and SIGHUP, blocked on every thread so that Wait can receive them.
class Signals {
 public:
  // Construct before any other thread starts: threads inherit the mask.
  Signals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    signal(SIGPIPE, SIG_IGN);  // Writing to a closed connection is an error code, not a signal.
  }

  // Calls `reload` on every SIGHUP. Returns the first other signal; the next one ends the process.
  int Wait(const std::function<void()>& reload) const {
    int received = 0;
    while (sigwait(&signals_, &received) == 0 && received == SIGHUP) reload();
    signal(SIGHUP, SIG_IGN);  // Nothing is left to reload.
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    return received;
  }

 private:
  sigset_t signals_;
};

}  // namespace hearth::server
