// Batches of many workers, each for itself or in rounds of one order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// Asked before each batch: whether the worker is to return, after so many batches of this call.
using ShallLeave = std::function<bool(std::uint64_t batches)>;

// A loop over the batches of a worker, which ends with them, or before when the worker is to leave.
//
// Where it is agreed, all workers take their batches in rounds: all read, then each computes, then they write
// one after the other, by their numbers, and leave before the same round. So the values after each round
// are the same in every run, bit for bit, also when another run has done the rounds before. A worker
// without a batch takes part. Costs as many barriers of all workers as there are workers, and two more.
class AgreedRounds {
 public:
  // Where it is agreed: every worker makes one.
  AgreedRounds(Worker& worker, bool agreed) : worker_(worker), agreed_(agreed) {}

  // Whether there is a round; `has_batch`: whether this worker has a batch for it.
  bool next(bool has_batch, const ShallLeave& shall_leave) {
    const bool leaves = shall_leave && shall_leave(rounds_++);
    if (!agreed_) return has_batch && !leaves;
    std::array<std::int64_t, 2> any{leaves ? 1 : 0, has_batch ? 1 : 0};
    worker_.all_reduce(any, Reduce::max);
    return any[0] == 0 && any[1] == 1;
  }
  // Between reading and writing.
  void all_have_read() {
    if (agreed_) worker_.barrier();
  }
  template <class F>
  void in_turn(F&& write) {
    if (!agreed_) return write();
    for (std::size_t turn = 0; turn < worker_.count(); ++turn) {
      if (turn == worker_.index()) write();
      worker_.barrier();  // Waits for the worker's own operations first.
    }
  }

 private:
  Worker& worker_;
  bool agreed_;
  std::uint64_t rounds_ = 0;
};

}  // namespace lapse::apps
