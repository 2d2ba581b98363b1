#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "kit/web/application.h"

namespace hearth::hackernews {

// The Hacker News reader. Settings, all optional:
//
//   api_url, site_url  where Hacker News is; the sandbox, or the real one
//   retry_pause_ms     before Hacker News is asked a second time; then it doubles
//   worker_schedule    cron, in UTC; every 30 minutes
//   worker_secret      who knows it may run the worker by POST /api/v1/worker
//   session_secret     signs the cookies; made and kept in the data folder if it is missing
//
// InvalidArgument for settings that are unknown or make no sense.
Result<std::unique_ptr<kit::Application>> MakeApplication(kit::AppContext context);

// The application's firestore.indexes.json.
std::string_view IndexConfigJson();

}  // namespace hearth::hackernews
