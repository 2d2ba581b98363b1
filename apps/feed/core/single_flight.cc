#include "apps/feed/core/single_flight.h"

namespace hearth::feed {

class SingleFlight::Landing {
 public:
  Landing(SingleFlight& flights, UserId key) : flights_(flights), key_(key) {}
  ~Landing() {
    MutexLock lock(flights_.mutex_);
    const auto flight = flights_.flights_.extract(key_);
    flight.mapped()->has_landed = true;
    flight.mapped()->landed.NotifyAll();
  }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

 private:
  SingleFlight& flights_;
  const UserId key_;
};

SingleFlight::Outcome SingleFlight::Run(UserId key, const std::function<void()>& work) {
  {
    MutexLock lock(mutex_);
    if (const auto under_way = flights_.find(key); under_way != flights_.end()) {
      const std::shared_ptr<Flight> flight = under_way->second;
      if (flight->waiters == waiters_max_) return Outcome::kCrowded;
      ++flight->waiters;
      while (!flight->has_landed) flight->landed.Wait(mutex_);
      return Outcome::kWaited;
    }
    flights_.emplace(key, std::make_shared<Flight>());
  }
  const Landing landing(*this, key);
  work();
  return Outcome::kWorked;
}

}  // namespace hearth::feed
