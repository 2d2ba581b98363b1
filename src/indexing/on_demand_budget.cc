#include "indexing/on_demand_budget.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace hearth::indexing {
namespace {

using index::Definition;
using index::FieldMode;
using index::Index;
using index::IndexNumber;
using index::Origin;
using model::DatabaseNumber;

bool HasManyEntries(const Definition& definition) {
  return std::any_of(definition.fields.begin(), definition.fields.end(), [](const auto& field) {
    return field.mode == FieldMode::kContains || field.mode == FieldMode::kMapEntries;
  });
}

double GuessedEntries(const Definition& definition) {
  return HasManyEntries(definition) ? OnDemandBudget::kManyEntriesGuess : 1;
}

bool IsIn(const index::IndexSet& indexes, DatabaseNumber database, const Definition& definition) {
  const std::vector<Index>& of_group = indexes.Of(database, definition.collection_id);
  return std::any_of(of_group.begin(), of_group.end(),
                     [&](const Index& index) { return index.definition == definition; });
}

}  // namespace

// What the indexes created on demand take of the budget, as a new one in `key` sees it.
struct OnDemandBudget::Usage {
  double of_group = 0;  // Entries per document write.
  size_t of_database = 0;
  size_t of_server = 0;
  std::map<DatabaseNumber, std::vector<const Index*>> indexes;
};

double OnDemandBudget::EntriesPerWrite(const Index& index) {
  const uint64_t writes = index.activity->document_writes;
  if (writes < kMeasuredWritesMin) return GuessedEntries(index.definition);
  const auto entries = static_cast<double>(index.activity->entries_written);
  return std::max(1.0, entries / static_cast<double>(writes));
}

double OnDemandBudget::Faded(double value, int64_t from_micros, int64_t to_micros) {
  const double half_lives =
      static_cast<double>(std::max<int64_t>(0, to_micros - from_micros)) / kHalfLifeMicros;
  return value * std::exp2(-half_lives);
}

int64_t OnDemandBudget::UpdateScore(const Index& index, int64_t now_micros) {
  index::Activity& activity = *index.activity;
  const uint64_t saved = activity.reads_saved;
  const uint64_t entries = activity.entries_written;
  const double gained = static_cast<double>(saved - activity.scored_reads_saved.exchange(saved));
  const double paid = static_cast<double>(entries - activity.scored_entries.exchange(entries)) *
                      static_cast<double>(kEntryCost);
  const int64_t before = activity.scored_at_micros.exchange(now_micros);
  const double score =
      Faded(static_cast<double>(activity.score), before, now_micros) + gained - paid;
  activity.score = static_cast<int64_t>(score);
  return activity.score;
}

int64_t OnDemandBudget::Usefulness(const Index& index, int64_t now_micros) {
  MutexLock lock(mutex_);
  return UpdateScore(index, now_micros);
}

const Definition& OnDemandBudget::Chosen(const IndexWish& wish) {
  if (!wish.shared) return wish.definition;
  const Key key(wish.database, *wish.shared);
  if (!shared_.contains(key) && shared_.size() >= kSharedWishesMax) shared_.erase(shared_.begin());
  std::set<Definition>& fields = shared_[key];
  if (fields.size() < kSharedFieldsMin) fields.insert(wish.definition);
  return fields.size() < kSharedFieldsMin ? wish.definition : *wish.shared;
}

OnDemandBudget::Demand& OnDemandBudget::Note(const Key& key, const IndexWish& wish,
                                             int64_t now_micros) {
  if (!demands_.contains(key)) {
    const auto of_database = std::count_if(demands_.begin(), demands_.end(), [&](const auto& each) {
      return each.first.first == key.first;
    });
    const bool is_full = static_cast<size_t>(of_database) >= kWishesOfDatabaseMax;
    if (is_full || demands_.size() >= kWishesMax) {
      auto least = demands_.end();
      for (auto each = demands_.begin(); each != demands_.end(); ++each) {
        if (is_full && each->first.first != key.first) continue;
        if (least == demands_.end() || each->second.reads < least->second.reads) least = each;
      }
      demands_.erase(least);
    }
  }
  Demand& demand = demands_[key];
  ++demand.sightings;
  demand.reads =
      Faded(demand.reads, demand.at_micros, now_micros) + static_cast<double>(wish.reads_in_vain);
  demand.at_micros = now_micros;
  return demand;
}

OnDemandBudget::Usage OnDemandBudget::UsageOf(const index::IndexSet& indexes,
                                              const Key& key) const {
  Usage usage;
  for (const Index* index : indexes.all()) {
    if (index->origin != Origin::kOnDemand) continue;
    ++usage.of_server;
    usage.indexes[index->database].push_back(index);
    if (index->database != key.first) continue;
    ++usage.of_database;
    if (index->definition.collection_id == key.second.collection_id) {
      usage.of_group += EntriesPerWrite(*index);
    }
  }
  for (const auto& [database, definition] : being_built_) {
    if (IsIn(indexes, database, definition)) continue;  // Counted above.
    ++usage.of_server;
    if (database != key.first) continue;
    ++usage.of_database;
    if (definition.collection_id == key.second.collection_id) {
      usage.of_group += GuessedEntries(definition);
    }
  }
  return usage;
}

bool OnDemandBudget::MakeRoom(Usage usage, const Key& key, int64_t promise, int64_t now_micros,
                              std::vector<IndexNumber>* drop) {
  const double entries = GuessedEntries(key.second);
  while (true) {
    const bool is_group_full =
        usage.of_group + entries > static_cast<double>(options_.entries_per_write_max);
    const bool is_database_full = usage.of_database >= options_.indexes_of_database_max;
    if (!is_group_full && !is_database_full && usage.of_server < options_.indexes_max) return true;
    DatabaseNumber database = key.first;
    bool is_for_a_share = false;
    if (!is_group_full && !is_database_full) {
      for (const auto& [number, indexes] : usage.indexes) {
        if (indexes.size() > std::max(usage.indexes[database].size(), usage.of_database + 1)) {
          database = number;
          is_for_a_share = true;
        }
      }
    }
    std::vector<const Index*>& indexes = usage.indexes[database];
    const Index* least = nullptr;
    int64_t least_useful = std::numeric_limits<int64_t>::max();
    for (const Index* index : indexes) {
      if (is_group_full && index->definition.collection_id != key.second.collection_id) continue;
      if (index->state != index::State::kReady ||
          now_micros - index->activity->created_micros < kLifeMinMicros) {
        continue;
      }
      const int64_t useful = UpdateScore(*index, now_micros);
      if (useful >= least_useful) continue;
      least = index;
      least_useful = useful;
    }
    if (!least) return false;
    const bool is_worth_more = least_useful > 0 && least_useful > promise / kDisplacementFactor;
    if (!is_for_a_share && is_worth_more) return false;
    drop->push_back(least->number);
    std::erase(indexes, least);
    --usage.of_server;
    if (database != key.first) continue;
    --usage.of_database;
    if (least->definition.collection_id == key.second.collection_id) {
      usage.of_group -= EntriesPerWrite(*least);
    }
  }
}

void OnDemandBudget::WarnOnce(const Key& key) {
  if (!warned_.insert(key.first).second) return;
  Log(LogLevel::kWarning,
      "the budget for indexes created on demand is used up; queries may have to read documents "
      "until indexes are declared for them",
      {{"collection", key.second.collection_id}, {"index", index::Properties(key.second)}});
}

OnDemandBudget::Decision OnDemandBudget::Decide(const index::IndexSet& indexes,
                                                const IndexWish& wish, int64_t now_micros) {
  MutexLock lock(mutex_);
  const auto exists = [&](const Definition& definition) REQUIRES_LOCK(mutex_) {
    if (being_built_.contains({wish.database, definition})) return true;
    return IsIn(indexes, wish.database, definition);
  };
  // If the shared index is not ready yet, it will serve this query soon.
  if (exists(wish.definition) || (wish.shared && exists(*wish.shared))) return {};
  const Key key(wish.database, Chosen(wish));
  if (barred_.contains(key)) return {};
  const Usage usage = UsageOf(indexes, key);
  const size_t prompt_max =
      std::min(options_.prompt_entries_per_write_max, options_.entries_per_write_max);
  const bool is_prompt =
      usage.of_group + GuessedEntries(key.second) <= static_cast<double>(prompt_max) &&
      usage.of_database < options_.indexes_of_database_max &&
      usage.of_server < options_.indexes_max;
  const Demand demand = Note(key, wish, now_micros);
  // Several fields of one map are a repeated need of the index that they share.
  const bool is_shared = wish.shared && key.second == *wish.shared;
  Decision decision;
  decision.promise = static_cast<int64_t>(demand.reads);
  if (!is_prompt && !is_shared && demand.sightings < kSightingsMin &&
      wish.reads_in_vain < kLargeReads) {
    return {};
  }
  if (!is_prompt && !MakeRoom(usage, key, decision.promise, now_micros, &decision.drop)) {
    WarnOnce(key);
    return {};
  }
  demands_.erase(key);
  being_built_.insert(key);
  decision.build = key.second;
  return decision;
}

void OnDemandBudget::EndBuild(DatabaseNumber database, const Definition& definition) {
  MutexLock lock(mutex_);
  being_built_.erase({database, definition});
}

void OnDemandBudget::Bar(DatabaseNumber database, const Definition& definition) {
  MutexLock lock(mutex_);
  BarLocked({database, definition});
}

void OnDemandBudget::BarLocked(const Key& key) {
  if (barred_.size() >= kBarredMax) barred_.erase(barred_.begin());
  barred_.insert(key);
}

std::vector<IndexNumber> OnDemandBudget::FindExcess(const index::IndexSet& indexes,
                                                    int64_t now_micros) {
  std::map<std::pair<DatabaseNumber, std::string_view>, std::vector<const Index*>> groups;
  for (const Index* index : indexes.all()) {
    if (index->origin != Origin::kOnDemand || index->state != index::State::kReady) continue;
    groups[{index->database, index->definition.collection_id}].push_back(index);
  }
  MutexLock lock(mutex_);
  std::vector<IndexNumber> drop;
  for (const auto& [group, of_group] : groups) DropExcess(of_group, now_micros, &drop);
  return drop;
}

void OnDemandBudget::DropExcess(const std::vector<const Index*>& of_group, int64_t now_micros,
                                std::vector<IndexNumber>* drop) {
  struct Cost {
    double entries;
    const Index* index;
  };
  // Commits go on counting. All decisions are made by one look at the counts, or else the order
  // would change while it is being sorted.
  std::vector<Cost> costs;
  double entries = 0;
  for (const Index* index : of_group) {
    costs.push_back({EntriesPerWrite(*index), index});
    entries += costs.back().entries;
  }
  std::ranges::stable_sort(costs, std::greater<>(), &Cost::entries);
  const auto budget = static_cast<double>(options_.entries_per_write_max);
  for (const Cost& cost : costs) {
    if (entries <= budget) return;
    const Index& index = *cost.index;
    const bool is_too_expensive = entries > budget * kExcessFactor;
    const bool is_young = now_micros - index.activity->created_micros < kLifeMinMicros;
    if (!is_too_expensive && (is_young || UpdateScore(index, now_micros) >= 0)) continue;
    if (is_too_expensive) BarLocked({index.database, index.definition});
    drop->push_back(index.number);
    entries -= cost.entries;
  }
}

void OnDemandBudget::Forget(DatabaseNumber database) {
  MutexLock lock(mutex_);
  const auto is_of_database = [&](const auto& entry) { return entry.first.first == database; };
  std::erase_if(demands_, is_of_database);
  std::erase_if(shared_, is_of_database);
  std::erase_if(being_built_, [&](const Key& key) { return key.first == database; });
  std::erase_if(barred_, [&](const Key& key) { return key.first == database; });
  warned_.erase(database);
}

}  // namespace hearth::indexing
