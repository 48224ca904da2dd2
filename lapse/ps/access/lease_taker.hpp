// How a lease is taken and given back, in steps that do not wait.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lapse/ps/lease.hpp"
#include "lapse/ps/operation.hpp"

namespace lapse {

class Worker;
class WorkerCore;

// Worker::lease and Lease::release go through these steps, waiting in between; simulations, where nothing may
// wait, go through them one by one. Used by the thread of the worker.
//
// Between begin and the moment when all keys are held, the worker may hold some keys already: it must wait
// for nothing else.
class LeaseTaker {
 public:
  explicit LeaseTaker(WorkerCore& worker) : worker_(worker) {}
  explicit LeaseTaker(Worker& worker);

  // Throws what Worker::lease throws for its arguments. The keys are the caller's until take has returned.
  void begin(std::span<const LeaseKeys> parts);
  // Whether advance would do something.
  bool may_advance() const;
  // Takes the next step; true when all keys are held.
  bool advance();
  // The handle, once advance has returned true.
  Lease take();

  // Gives back the keys without waiting operations and asks the engine to release the others. The lease is
  // released for its holder.
  void begin_release(Lease& lease);
  void begin_release();  // of the lease that the worker holds
  // Whether the release is complete; before, no further lease can be taken.
  bool released() const;
  // The engine has the request, or has granted it.
  bool requested() const { return stage_ == Stage::requested; }

 private:
  enum class Stage : std::uint8_t {
    own_operations,  // waits for what the worker itself has in flight on the keys
    localizing,      // brings the keys to this rank, all together
    requested,       // gets the keys, one after the other
  };

  void localize();
  void request();

  WorkerCore& worker_;
  Stage stage_ = Stage::own_operations;
  std::vector<LeaseKeys> parts_;
  std::vector<Operation> localizes_;
};

}  // namespace lapse
