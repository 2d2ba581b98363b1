#pragma once

#include <cstddef>
#include <variant>

#include "base/callback.h"
#include "base/executor.h"
#include "base/status.h"
#include "engine/engine.h"
#include "model/names.h"

namespace hearth::engine {

// Which documents a clear deletes: all of the database, those of a collection with all below them,
// or one with all below it.
struct AllDocuments {};
using ClearScope = std::variant<AllDocuments, model::CollectionPath, model::DocumentPath>;

// A commit of a clear ends at the first of these. Only a single document may be larger.
inline constexpr size_t kClearBatchDocumentsMax = 500;
inline constexpr size_t kClearBatchBytesMax = 1024 * 1024;

// Deletes the documents that exist when it begins, durably, by ordinary commits of bounded size,
// one after the other: listeners, indexes and transactions' locks see deletions like any others. A
// document that is created while it runs stays; one that exists and is written while it runs is
// deleted or stays.
//
// Never blocks; calls back on `executor`. After an error some documents are gone and others are
// not: Aborted where a transaction does not give up its locks, otherwise the errors of the store
// and those of an engine that is busy or closing.
void Clear(Engine& engine, documents::Database& database, const ClearScope& scope,
           Executor& executor, Callback<void(Status)> done);

}  // namespace hearth::engine
