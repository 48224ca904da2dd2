// One worker's random calls on several tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "test/support/clock_play.hpp"
#include "test/support/lease_play.hpp"
#include "test/support/random_intents.hpp"
#include "test/support/random_workload_client.hpp"
#include "test/support/sync_play.hpp"

namespace lapse::test {

// The behaviour of a worker. Probabilities are in [0, 1].
struct WorkloadSettings {
  std::size_t calls = 100;
  std::size_t max_pending = 6;  // calls in flight at a time
  std::size_t max_keys = 3;     // of one call
  double synchronous = 0.3;     // wait for the answer before the next call
  double wait_for_all = 0.05;   // wait for all answers before the next call
  double detached = 0.05;       // give up the handle of a pending call
  // Probability of a call on 10 to 100 keys, some of which may repeat. Half of the other calls then use only
  // a few keys, so that they meet the keys of bulk calls.
  double bulk = 0;
  std::array<std::uint32_t, kCalls> weights{3, 4, 1, 2, 1, 2,
                                            2, 1, 0, 0, 1, 2};  // of the calls, in the order of Call
  std::size_t max_touches = 4;                                  // of the keys of a lease
  bool long_intents = true;  // some intents last for many calls, or to the end

  // Drawn from a seed.
  static WorkloadSettings random(RandomEngine& random, std::size_t calls);
};

// The calls are a function of the settings, the random engine and the answers. Used by one thread.
class RandomWorkload {
 public:
  // The clients outlive the workload; those that take part in leases have tables of their own. `leases`: how
  // leases are taken. `intents`: where intents are recorded. `syncs`: how the worker waits for replicas.
  // `clock`: how its clock advances. Null: none are made.
  RandomWorkload(std::vector<TableClient*> clients, const WorkloadSettings& settings, RandomEngine random,
                 std::unique_ptr<LeasePlay> leases, std::unique_ptr<IntentPlay> intents = nullptr,
                 std::unique_ptr<SyncPlay> syncs = nullptr, std::unique_ptr<ClockPlay> clock = nullptr);

  bool finished() const {
    return calls_ == settings_.calls && pending_.empty() && !(leases_ && leases_->active()) &&
           !has_intents() && !syncs() && waiting_ == nullptr;
  }
  // False while the worker waits for an answer: step() would block.
  bool may_step() const;
  // Finishes calls that are answered, waits if that is the worker's next step, and makes one call if any is
  // left. Throws HistoryViolation and what the worker throws.
  void step();
  // Steps until finished.
  void run();

  // Describes the last step, for traces.
  std::string last_step() const;

 private:
  void take_step();
  void make_call();
  void draw_keys(std::uint64_t keys);
  void draw_bulk_keys(std::uint64_t keys);
  void begin_lease();
  void begin_intent();
  bool has_intents() const { return intents_ && intents_->active(); }
  bool syncs() const { return syncs_ && syncs_->active(); }
  void finish_answered();

  std::vector<TableClient*> clients_;
  WorkloadSettings settings_;
  RandomEngine random_;
  std::unique_ptr<LeasePlay> leases_;
  std::unique_ptr<IntentPlay> intents_;
  std::unique_ptr<SyncPlay> syncs_;
  std::unique_ptr<ClockPlay> clock_;
  std::size_t calls_ = 0;
  std::vector<std::unique_ptr<PendingCall>> pending_;  // in program order
  std::unique_ptr<PendingCall> waiting_;               // the worker is in this call; else null
  std::size_t wait_for_ =
      0;  // how many of pending_, from the oldest or the newest, to wait for before the next call
  bool wait_for_newest_ = false;

  struct Step {
    bool called = false;
    std::size_t client = 0;
    Call call = Call::pull;
    std::vector<Key> keys;
    bool detached = false;
    std::string of_lease;  // what was done about a lease, a sync or a call in which the worker waits
    bool of_intents = false;
    bool of_clock = false;  // the last intents have ended
  } last_;
};

}  // namespace lapse::test
