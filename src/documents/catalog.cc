#include "documents/catalog.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace hearth::documents {

Result<std::unique_ptr<Catalog>> Catalog::Load(const storage::Store& store) {
  auto catalog = std::make_unique<Catalog>();
  const std::unique_ptr<storage::Snapshot> snapshot = store.NewSnapshot();
  const std::unique_ptr<storage::Cursor> cursor =
      snapshot->Scan(storage::Space::kMeta, storage::PrefixRange(kDatabaseKeyPrefix),
                     storage::Direction::kForward);
  MutexLock lock(catalog->mutex_);
  for (; cursor->Valid(); cursor->Next()) {
    ASSIGN_OR_RETURN(const uint32_t number, model::DecodeUint32(cursor->value()));
    Result<model::DatabaseName> name =
        model::DatabaseName::Parse(cursor->key().substr(kDatabaseKeyPrefix.size()));
    if (!name.ok()) {
      return Status(Code::kDataLoss, name.status().message()).While("reading the databases");
    }
    catalog->databases_[name->text()] =
        std::make_unique<Database>(*name, model::DatabaseNumber{number}, true);
    catalog->next_number_ = std::max(catalog->next_number_, number + 1);
  }
  RETURN_IF_ERROR(cursor->status());
  return catalog;
}

Result<Database*> Catalog::Open(const model::DatabaseName& name) {
  MutexLock lock(mutex_);
  const auto found = databases_.find(name.text());
  if (found != databases_.end()) return found->second.get();
  if (databases_.size() >= kDatabasesMax) {
    return Status(Code::kResourceExhausted,
                  "too many databases: the limit is " + std::to_string(kDatabasesMax));
  }
  auto database = std::make_unique<Database>(name, model::DatabaseNumber{next_number_++}, false);
  return databases_.emplace(name.text(), std::move(database)).first->second.get();
}

std::vector<Database*> Catalog::Stored() const {
  MutexLock lock(mutex_);
  std::vector<Database*> stored;
  for (const auto& [name, database] : databases_) {
    if (database->is_on_disk) stored.push_back(database.get());
  }
  return stored;
}

}  // namespace hearth::documents
