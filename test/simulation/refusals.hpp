// Keys that sometimes cannot be made or stored: the refusals, and histories with failed calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/store/memory/region.hpp"
#include "lapse/store/values/initialiser.hpp"
#include "test/support/history_counters.hpp"

namespace lapse::test {

// Decides what is refused, on all ranks of a simulation, and records which keys certainly exist.
class Refusals {
 public:
  // Chances are in percent. `keys_exist`: whether keys exist from the start, like in dense tables.
  Refusals(std::uint64_t seed, std::uint64_t initialiser_chance, std::uint64_t memory_chance,
           std::size_t keys, bool keys_exist)
      : random_(seed, 3),
        initialiser_chance_(initialiser_chance),
        memory_chance_(memory_chance),
        exists_(keys, keys_exist) {}

  // Begins or ends refusing.
  void set_active(bool active) { active_ = active; }
  // Initializes to zero; sometimes throws.
  Initialiser initialiser();
  // Whether a rank gets no further memory now.
  bool refuses_memory() { return active_ && random_.below(100) < memory_chance_; }

  bool exists(Key key) const { return exists_[key.index()]; }
  void set_exists(Key key) { exists_[key.index()] = true; }

  std::uint64_t failed_calls = 0;
  std::uint64_t failed_localizes = 0;
  std::uint64_t failed_leases = 0;

 private:
  RandomEngine random_;
  const std::uint64_t initialiser_chance_;
  const std::uint64_t memory_chance_;
  std::vector<bool> exists_;
  bool active_ = false;
};

// Private memory that refuses to grow while `refusals` says so.
class ScarceRegionAllocator final : public RegionAllocator {
 public:
  void set_refusals(std::shared_ptr<Refusals> refusals) { refusals_ = std::move(refusals); }
  std::unique_ptr<Region> reserve(std::size_t bytes) override;

 private:
  class ScarceRegion;

  PrivateRegionAllocator real_;
  std::shared_ptr<Refusals> refusals_;
};

// What one worker pushed to each key and pulled of it, where calls may fail. Whether a push has taken effect
// is known only once its answer has arrived, so the history is checked at the end.
class RefusalLog {
 public:
  explicit RefusalLog(std::size_t keys) : events_(keys) {}

  // Records a call on the key that pulls, pushes, or pulls and then pushes. Returns its number.
  std::size_t called(Key key, bool pulls, bool pushes);
  void succeeded(Key key, std::size_t number, Counts counts);

  // The history without the failed calls. Throws HistoryViolation if a pull does not hold exactly the
  // worker's own successful pushes that were called before it (I3).
  void replay(CounterLog& log) const;

 private:
  struct Event {
    bool pulls;
    bool pushes;
    std::uint64_t position;
    bool succeeded = false;
    Counts counts = {};
  };

  std::uint64_t next_position_ = 0;
  std::vector<std::vector<Event>> events_;  // by key, in program order
};

}  // namespace lapse::test
