#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "kit/web/application.h"

namespace hearth::hackernews {

// The Hacker News reader. Settings, all optional:
//
//   api_url, site_url  URLs of Hacker News; default: the sandbox, or the real one
//   retry_pause_ms     pause before the first retry; doubles each time
//   worker_schedule    cron, in UTC; default: every 30 minutes
//   worker_secret      authorises POST /api/v1/worker, which runs the worker
//   session_secret     signs the cookies; by default generated and kept in the data folder
//   failed_sign_ins_per_address
//                      in 15 minutes; default 100. Behind a proxy all clients have its address:
//                      raise it there
//
// InvalidArgument for unknown or invalid settings.
Result<std::unique_ptr<kit::Application>> MakeApplication(kit::AppContext context);

// The application's firestore.indexes.json.
std::string_view IndexConfigJson();

}  // namespace hearth::hackernews
