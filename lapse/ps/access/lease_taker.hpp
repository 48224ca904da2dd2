// Takes and releases a lease, in steps that do not wait.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lapse/ps/access/lease_hold.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/operation.hpp"

namespace lapse {

class Worker;
class WorkerCore;

// Worker::lease and Lease::release make these steps and wait in between; simulations, in which no thread may
// wait, make them one by one. Thread safety: the worker's thread.
//
// Between begin and the moment when all keys are held, the worker may hold some keys already: it must wait
// for nothing else.
class LeaseTaker {
 public:
  explicit LeaseTaker(WorkerCore& worker) : worker_(worker) {}
  explicit LeaseTaker(Worker& worker);

  // Throws what Worker::lease throws for its arguments. The keys must live until take has returned.
  void begin(std::span<const LeaseKeys> parts);
  // Returns true if advance would make a step.
  bool may_advance() const;
  // Makes the next step. Returns true if all keys are held.
  bool advance();
  // Returns the handle, once advance has returned true.
  Lease take();

  // Releases the keys without waiting operations and asks the engine to release the others. For its holder
  // the lease is released.
  void begin_release(Lease& lease);
  void begin_release();  // of the lease that the worker holds
  // Returns true if the release is complete. Before that, no further lease can be taken.
  bool released() const;
  // The engine has the request, or has granted it.
  bool requested() const { return stage_ == Stage::requested; }

 private:
  enum class Stage : std::uint8_t {
    own_operations,  // waits for the worker's own operations on the keys
    localizing,      // moves the keys to this rank, all together
    requested,       // gets the keys, one after the other
  };

  void localize();
  void request();

  WorkerCore& worker_;
  Stage stage_ = Stage::own_operations;
  std::vector<LeaseKeys> parts_;
  std::vector<Operation> localizes_;
  // Made before the keys are requested: what was granted must not be lost for want of memory.
  std::unique_ptr<LeaseHold> hold_;
};

}  // namespace lapse
