#include "documents/catalog.h"

#include <algorithm>
#include <utility>

#include "base/fair_share.h"
#include "base/status_macros.h"

namespace hearth::documents {

Result<std::unique_ptr<Catalog>> Catalog::Load(const storage::Store& store, size_t databases_max) {
  std::unique_ptr<Catalog> catalog(new Catalog(databases_max));
  const std::unique_ptr<storage::Snapshot> snapshot = store.NewSnapshot();
  MutexLock lock(catalog->mutex_);
  const auto cursor =
      snapshot->Scan(storage::Space::kMeta, storage::PrefixRange(kDatabaseKeyPrefix),
                     storage::Direction::kForward);
  for (; cursor->Valid(); cursor->Next()) {
    ASSIGN_OR_RETURN(const DatabaseRecord record, DecodeDatabaseRecord(cursor->value()));
    Result<model::DatabaseName> name =
        model::DatabaseName::Parse(cursor->key().substr(kDatabaseKeyPrefix.size()));
    if (!name.ok()) {
      return Status(Code::kDataLoss, name.status().message()).While("reading the databases");
    }
    auto database = std::make_shared<Database>(*name, record.number, true);
    database->created_micros = record.created.micros();
    catalog->databases_[name->text()] = {std::move(database)};
    catalog->next_number_ =
        std::max(catalog->next_number_, static_cast<uint32_t>(record.number) + 1);
  }
  RETURN_IF_ERROR(cursor->status());
  // Documents of deleted databases may still exist under their numbers.
  const auto remains =
      snapshot->Scan(storage::Space::kMeta, storage::PrefixRange(kDatabaseRemainsKeyPrefix),
                     storage::Direction::kForward);
  for (; remains->Valid(); remains->Next()) {
    ASSIGN_OR_RETURN(const uint32_t number,
                     model::DecodeUint32(remains->key().substr(kDatabaseRemainsKeyPrefix.size())));
    catalog->next_number_ = std::max(catalog->next_number_, number + 1);
  }
  RETURN_IF_ERROR(remains->status());
  return catalog;
}

DatabaseHandle Catalog::Open(const model::DatabaseName& name) {
  MutexLock lock(mutex_);
  if (const auto found = databases_.find(name.text()); found != databases_.end()) {
    return found->second.database;
  }
  if (unwritten_.size() >= expired_checked_at_) RemoveExpired();
  auto found = unwritten_.find(name.text());
  if (found == unwritten_.end()) {
    found = unwritten_.emplace(name.text(), Unwritten{{}, NewNumber()}).first;
  } else if (DatabaseHandle database = found->second.database.lock()) {
    return database;
  }
  auto database = std::make_shared<Database>(name, found->second.number, false);
  found->second.database = database;
  return database;
}

void Catalog::RemoveExpired() {
  for (auto entry = unwritten_.begin(); entry != unwritten_.end();) {
    if (!entry->second.database.expired()) {
      ++entry;
      continue;
    }
    unused_numbers_.push_back(entry->second.number);
    entry = unwritten_.erase(entry);
  }
  expired_checked_at_ = std::max(kUnwrittenKeptMax, 2 * unwritten_.size());
}

model::DatabaseNumber Catalog::NewNumber() {
  if (free_numbers_.empty()) return model::DatabaseNumber{next_number_++};
  const model::DatabaseNumber number = free_numbers_.back();
  free_numbers_.pop_back();
  return number;
}

Status Catalog::CheckRoom(const Database& database, ClientKey client) const {
  const auto refused = [&](const std::string& why) {
    return Status(Code::kResourceExhausted, "cannot create the database '" + database.name.text() +
                                                "': " + why + ", and the limit is " +
                                                std::to_string(databases_max_) +
                                                " (--databases-max); delete some with 'hearth db "
                                                "delete'");
  };
  const size_t taken = databases_.size();
  if (taken >= databases_max_) {
    return refused("there are already " + std::to_string(taken));
  }
  if (databases_max_ < kSharedMaximumMin) return Status();
  const auto found = of_client_.find(client);
  const size_t of_client = found == of_client_.end() ? 0 : found->second;
  if (MayTakePlace(client, of_client, taken, databases_max_)) return Status();
  return refused("this client has created " + std::to_string(of_client) +
                 " already, the remaining ones are for others");
}

Status Catalog::BeginCreation(Database& database, ClientKey client) {
  MutexLock lock(mutex_);
  const auto found = databases_.find(database.name.text());
  if (found != databases_.end()) {
    // Another one only if this one was deleted; then there is nothing to create.
    if (found->second.database.get() == &database) ++found->second.creations;
    return Status();
  }
  RETURN_IF_ERROR(CheckRoom(database, client));
  unwritten_.erase(database.name.text());
  databases_[database.name.text()] = {database.shared_from_this(), 1, client};
  if (client != ClientKey::kInternal) ++of_client_[client];
  return Status();
}

void Catalog::EndCreation(Database& database) {
  MutexLock lock(mutex_);
  const auto found = databases_.find(database.name.text());
  if (found == databases_.end() || found->second.database.get() != &database) return;
  if (--found->second.creations > 0 || database.is_on_disk) return;
  unwritten_[database.name.text()] = {found->second.database, database.number};
  Erase(found);
}

void Catalog::Erase(KeptByName::iterator kept) {
  const auto of_client = of_client_.find(kept->second.created_by);
  if (of_client != of_client_.end() && --of_client->second == 0) of_client_.erase(of_client);
  databases_.erase(kept);
}

void Catalog::Remove(const Database& database) {
  MutexLock lock(mutex_);
  const auto found = databases_.find(database.name.text());
  if (found != databases_.end() && found->second.database.get() == &database) Erase(found);
}

std::vector<DatabaseHandle> Catalog::Stored() const {
  MutexLock lock(mutex_);
  std::vector<DatabaseHandle> stored;
  for (const auto& [name, kept] : databases_) {
    if (kept.database->is_on_disk) stored.push_back(kept.database);
  }
  return stored;
}

std::vector<model::DatabaseNumber> Catalog::TakeUnused() {
  MutexLock lock(mutex_);
  return std::exchange(unused_numbers_, {});
}

void Catalog::Recycle(const std::vector<model::DatabaseNumber>& numbers) {
  MutexLock lock(mutex_);
  free_numbers_.insert(free_numbers_.end(), numbers.begin(), numbers.end());
}

size_t Catalog::unwritten() const {
  MutexLock lock(mutex_);
  return unwritten_.size();
}

}  // namespace hearth::documents
