#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "kit/web/application.h"

namespace hearth::feed {

// The photo feed. Settings, all optional:
//
//   redis                 HOST:PORT of a Redis server, or of cluster nodes, comma-separated, for
//                         caches and events; without it caches are in memory and events in the
//                         database
//   pushed_followers_max  readers pull the posts of authors with more followers; default 10,000
//   fan_out_threads       threads that process events; default 2
//   repair_seconds        interval of the search for unpushed posts; default 10
//   demo                  whether the sandbox's users post here; default: true with a sandbox
//   registrations_per_hour, failed_sign_ins_per_address, posts_per_hour, comments_per_hour
//                         limits of one address or user, see api/limits.h. Behind a proxy all
//                         clients have its address: raise the first two there
//   operator_secret       the bearer token that shows all of /health, at least 16 characters;
//                         without it /health has only the status
//   session_secret        signs the tokens; by default generated and kept in the data folder
//
// InvalidArgument for unknown or invalid settings.
Result<std::unique_ptr<kit::Application>> MakeApplication(kit::AppContext context);

// The application's firestore.indexes.json.
std::string_view IndexConfigJson();

}  // namespace hearth::feed
