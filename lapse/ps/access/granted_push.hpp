// A push whose changes the homes of keys grant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "lapse/protocol/worker/grant_request.hpp"
#include "lapse/ps/access/bounded_push.hpp"
#include "lapse/ps/operation.hpp"
#include "lapse/ps/table.hpp"

namespace lapse {

class WorkerCore;

// Carries out a push to a table whose changes by all workers are bounded (Budgets), in steps that do not wait
// for other workers. Keys in memory without replicas are changed at once, without a grant. The others are
// changed as they are granted, in any order; equal keys in the order of the call.
//
// Thread safety: the worker's thread.
class GrantedPush {
 public:
  // Core, table and push outlive the object, which is the worker's only one.
  GrantedPush(WorkerCore& core, const TableHandle& table, BoundedPush push);
  GrantedPush(const GrantedPush&) = delete;
  GrantedPush& operator=(const GrantedPush&) = delete;
  // Gives up what is not changed yet.
  ~GrantedPush();

  bool is_done() const { return next_ == push_.size && units_.empty() && in_flight_.empty(); }
  // Whether advance() would do something.
  bool may_advance() const;
  // Changes what may be changed now. Throws what access to the table throws; is of no use then.
  void advance();
  // A key that is not granted yet, else one that is not answered. Requires !is_done().
  Key awaited() const;
  // How many grants had to wait for other workers' changes.
  std::size_t waits() const { return waits_; }
  // Once done: throws the first failure of a key.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // Units of request_, whose changes are not answered.
  struct InFlight {
    Operation operation;
    std::vector<std::uint32_t> units;
  };
  struct Unit {
    std::size_t first;
    BoundedPush::Unit content;
  };

  void begin_units();
  void change_granted();
  void take_answers();
  // Starts the push of [first, end), which are these units.
  void change(std::size_t first, std::size_t end, std::vector<std::uint32_t> units);
  void written(const std::vector<std::uint32_t>& units);
  void submit();

  WorkerCore& core_;
  const TableHandle& table_;
  const BoundedPush push_;
  GrantRequest& request_;
  std::size_t next_ = 0;     // the first that is not among units_ or changed
  std::vector<Unit> units_;  // of the request
  std::size_t taken_ = 0;    // of its grants
  std::vector<InFlight> in_flight_;
  std::size_t waits_ = 0;
  std::exception_ptr failure_;
};

}  // namespace lapse
