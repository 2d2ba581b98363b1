#pragma once

#include <memory>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "storage/store.h"

namespace hearth::cases {

// An engine in this process, with the defaults of `hearth serve`.
struct LocalEngine {
  explicit LocalEngine(std::unique_ptr<storage::Store> opened) : store(std::move(opened)) {
    auto result = engine::Engine::Open(*store, clock, random, engine::EngineOptions());
    CHECK(result.ok());
    engine = *std::move(result);
  }

  const SystemClock clock;
  RandomSource random;
  const std::unique_ptr<storage::Store> store;
  std::unique_ptr<engine::Engine> engine;
};

}  // namespace hearth::cases
