#pragma once

#include <cstddef>
#include <variant>

#include "base/callback.h"
#include "base/executor.h"
#include "base/status.h"
#include "engine/caller.h"
#include "engine/engine.h"
#include "model/names.h"

namespace hearth::engine {

// The documents that a clear deletes: the whole database, a collection with everything below it, or
// one document with everything below it.
struct AllDocuments {};
using ClearScope = std::variant<AllDocuments, model::CollectionPath, model::DocumentPath>;

// A commit of a clear ends at the first of these limits. Only a single document may be larger.
inline constexpr size_t kClearBatchDocumentsMax = 500;
inline constexpr size_t kClearBatchBytesMax = 1024 * 1024;

// Durably deletes the documents that exist when it starts, by ordinary commits of bounded size, one
// after another: listeners, indexes and transactions' locks treat the deletions like any others. A
// document created while it runs stays; an existing one that is written while it runs may be
// deleted or stay.
//
// The caller's work takes turns with that of others, and ends with the commit in progress when the
// caller has left.
//
// Never blocks; calls back on `executor`. After an error some documents are deleted and others are
// not: Aborted if a transaction does not release its locks, Cancelled if the caller has left,
// otherwise the errors of the store and those of an engine that is busy or closing.
void Clear(Engine& engine, documents::Database& database, const ClearScope& scope,
           Executor& executor, Callback<void(Status)> done, Caller caller = {});

}  // namespace hearth::engine
