// Collects the queued lease requests whose turn has arrived.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/key_failure.hpp"
#include "lapse/protocol/table/lease_asker.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Filled while queues are drained, when the keys must not be used yet. The lease module takes the turns at
// the end of the engine turn.
//
// Thread safety: the holder of the progress lock; set_listener: before the first message.
class LeaseTurns {
 public:
  // The outcome for a queued request: the key is leased to it, or cannot be, or the request must be repeated.
  struct Turn {
    LeaseAsker asker;
    TableShard* table;
    Key key;
    bool granted;
    std::unique_ptr<KeyFailure> failure = nullptr;
  };

  // Called for each turn that is added.
  void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }

  // The key is leased to the asker.
  void granted(const LeaseAsker& asker, TableShard& table, Key key) LAPSE_REQUIRES(progress_role) {
    add({.asker = asker, .table = &table, .key = key, .granted = true});
  }
  // The key has left the domain: the request must be repeated.
  void left(const LeaseAsker& asker, TableShard& table, Key key) LAPSE_REQUIRES(progress_role) {
    add({.asker = asker, .table = &table, .key = key, .granted = false});
  }
  // The domain cannot get the key: the request has failed.
  void refused(const LeaseAsker& asker, TableShard& table, const KeyFailure& failure)
      LAPSE_REQUIRES(progress_role) {
    add({.asker = asker,
         .table = &table,
         .key = failure.key,
         .granted = false,
         .failure = std::make_unique<KeyFailure>(failure)});
  }

  bool empty() const LAPSE_REQUIRES(progress_role) { return turns_.empty(); }
  std::vector<Turn> take() LAPSE_REQUIRES(progress_role) { return std::exchange(turns_, {}); }

 private:
  void add(Turn turn) LAPSE_REQUIRES(progress_role) {
    turns_.push_back(std::move(turn));
    if (listener_) listener_();
  }

  std::function<void()> listener_;
  std::vector<Turn> turns_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
