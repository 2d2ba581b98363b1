// The engine's public functions for databases.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "documents/keys.h"
#include "engine/core.h"

namespace hearth::engine {

using documents::Database;
using documents::DatabaseHandle;

namespace {

// Requests that started before a deletion may still report a slightly later moment.
constexpr std::chrono::microseconds kDeletionSlack = std::chrono::seconds(1);

}  // namespace

DatabaseHandle Engine::Core::OpenDatabase(const model::DatabaseName& name) {
  DatabaseHandle database = catalog_->Open(name);
  FollowIndexPolicy(*database);
  return database;
}

std::vector<documents::ConstDatabaseHandle> Engine::Core::Databases() const {
  const std::vector<DatabaseHandle> stored = catalog_->Stored();
  std::vector<documents::ConstDatabaseHandle> databases(stored.begin(), stored.end());
  std::sort(databases.begin(), databases.end(),
            [](const auto& left, const auto& right) { return left->name < right->name; });
  return databases;
}

uint64_t Engine::Core::DocumentBytes(const Database& database) const {
  return store_.ApproximateBytes(storage::Space::kDocuments,
                                 storage::PrefixRange(model::DatabaseKeyPrefix(database.number)));
}

Status Engine::Core::DeleteDatabase(const model::DatabaseName& name) {
  const DatabaseHandle database = catalog_->Open(name);
  const Status not_found(Code::kNotFound, "there is no database '" + name.text() + "'");
  if (!database->is_on_disk) return not_found;
  int64_t deletion_micros = 0;
  bool is_ours = false;  // False if another call has deleted it first.
  const auto stage = [&](storage::Batch* batch) {
    is_ours = !database->is_deleted;
    if (!is_ours) return;
    batch->Delete(storage::Space::kMeta,
                  std::string(documents::kDatabaseKeyPrefix) + database->name.text());
    DatabaseRemover::StageAdd(*database, batch);
    deletion_micros = commit_clock_.ReadTime().micros() + kDeletionSlack.count();
    batch->Put(storage::Space::kMeta, std::string(documents::kDeletionTimeKey),
               model::EncodeUint64(static_cast<uint64_t>(deletion_micros)));
    ttl_policies_->StageClearAll(database->number, batch);
  };
  RETURN_IF_ERROR(committer_.RunStep(stage, [&] {
    // A second deletion in the same group changes nothing.
    is_ours = is_ours && !database->is_deleted;
    if (!is_ours) return;
    newest_deletion_micros_ = deletion_micros;
    database->is_deleted = true;
    catalog_->Remove(*database);
    ttl_policies_->ClearAll(database->number);
  }));
  if (!is_ours) return not_found;
  Log(LogLevel::kInfo, "a database was deleted", {{"database", name.text()}});
  transactions_.EndAllOf(*database);
  change_feed_.Wake(database->number);
  needed_indexes_.Forget(database->number);
  ttl_sweeper_->Forget(database->number);
  vector_graphs_.SetWanted(database->number, {});
  database_remover_->Add(*database);
  return Status();
}

bool Engine::Core::IsInHistory(const Database& database, model::Timestamp time) const {
  // Before its creation nothing was there, unless an earlier database of that name was deleted.
  const bool is_of_this_database =
      (database.is_on_disk && time.micros() >= database.created_micros) ||
      time.micros() > newest_deletion_micros_;
  return is_of_this_database && CheckReadTime(time).ok();
}

void Engine::Core::RecycleDatabases() {
  const std::vector<model::DatabaseNumber> unused = catalog_->TakeUnused();
  // Queries are recorded even before the first commit.
  for (const model::DatabaseNumber number : unused) needed_indexes_.Forget(number);
  catalog_->Recycle(unused);
}

}  // namespace hearth::engine
