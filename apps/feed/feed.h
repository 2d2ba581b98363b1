#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "kit/web/application.h"

namespace hearth::feed {

// The photo feed. Settings, all optional:
//
//   redis                 HOST:PORT of a Redis, or of nodes of a cluster with commas between them,
//                         for caches and events; without it they are in this process and in the
//                         database
//   pushed_followers_max  posts of authors with more followers are pulled by readers; 10,000
//   fan_out_threads       how many work on events; 2
//   repair_seconds        how often posts are looked for that were not pushed; 10
//   demo                  whether the sandbox's people post here; true where there is a sandbox
//   session_secret        signs the tokens; made and kept in the data folder if it is missing
//
// InvalidArgument for settings that are unknown or make no sense.
Result<std::unique_ptr<kit::Application>> MakeApplication(kit::AppContext context);

// The application's firestore.indexes.json.
std::string_view IndexConfigJson();

}  // namespace hearth::feed
