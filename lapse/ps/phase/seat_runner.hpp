// What a worker does in its seat, on the thread of its slot.
#pragma once

#include <functional>

#include "lapse/core/process/own_process.hpp"
#include "lapse/ps/access/phase.hpp"
#include "lapse/ps/phase/ended_workers.hpp"
#include "lapse/ps/worker.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Runs the function of a worker, ends the worker, and reports what the function throws.
//
// Thread safety: run by the threads of different slots at the same time; prepare while no worker lives.
class SeatRunner {
 public:
  SeatRunner(Transport& transport, const OwnProcess& process) : transport_(transport), process_(process) {}

  // The next phase has this many slots.
  void prepare(std::size_t slots) { ended_.prepare(slots); }

  // The seat's operations are answered when it returns, except after a failure of some rank. `report` lives
  // as long as the phase. Throws in a child alone that fork has made in f: then f has thrown that, or has
  // returned.
  void run(const Seat& seat, const std::function<void(Worker&)>& f, GroupFailureReport& report);

 private:
  void report_failure(const Seat& seat, GroupFailureReport& report) noexcept;

  Transport& transport_;
  const OwnProcess& process_;
  EndedWorkers<Worker> ended_;
};

}  // namespace lapse
