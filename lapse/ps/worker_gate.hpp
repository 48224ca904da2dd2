// The check whether a worker may access memory directly.
#pragma once

#include <cstdint>
#include <utility>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/unanswered_count.hpp"
#include "lapse/ps/table.hpp"

namespace lapse {

// The conditions that a worker's inlined accesses check before they touch the store; updated by the worker's
// core. The gate is open only if WorkerCore::admit would have nothing to do.
//
// Thread safety: the worker's thread.
class WorkerGate {
 public:
  // Why this worker cannot be called now.
  enum class Busy : std::uint8_t {
    no,
    user_code,  // code of the application runs under a latch, on this thread
    engine,     // this thread drives the engine, which may run such code
    lease,      // the worker holds keys that other workers may wait for
  };
  class BusyGuard {
   public:
    BusyGuard(WorkerGate& gate, Busy now) : gate_(gate), before_(std::exchange(gate.busy_, now)) {}
    BusyGuard(const BusyGuard&) = delete;
    BusyGuard& operator=(const BusyGuard&) = delete;
    ~BusyGuard() { gate_.busy_ = before_; }

   private:
    WorkerGate& gate_;
    Busy before_;
  };

  // `counters`: the worker's, by table.
  WorkerGate(const void* server, const UnansweredCount& unanswered, TableCounters* counters)
      : server_(server), unanswered_(&unanswered), counters_(counters) {}

  // Whether the table belongs to this server, the worker is free, and its count is clear.
  bool is_open(const TableHandle& table) const {
    // One branch for all. Uses integers because compilers warn of & between conditions.
    return (int{table.inlined_for() == server_} & int{unanswered_->is_clear()} & int{busy_ == Busy::no}) != 0;
  }
  // The same, and the table can have the key.
  bool is_open(const TableHandle& table, Key key) const {
    return (int{is_open(table)} & int{table.has(key)}) != 0;
  }
  // Whether none of the worker's operations is unanswered, no table is barred, and no rank has failed.
  bool is_clear() const { return unanswered_->is_clear(); }

  TableCounters& counters(const TableHandle& table) { return counters_[table.id().value()]; }
  Busy busy() const { return busy_; }
  // For states that outlast a scope.
  void set_busy(Busy busy) { busy_ = busy; }
  // Keeps the gate closed: the worker has ended, or is a copy in a child that fork has made.
  void close() { server_ = this; }  // no table, nor a handle of none, has this server

 private:
  const void* server_;
  const UnansweredCount* unanswered_;
  TableCounters* counters_;
  Busy busy_ = Busy::no;
};

}  // namespace lapse
