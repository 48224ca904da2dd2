// Loops over batches of many workers, independent or in deterministic rounds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// Called before each batch: whether the worker is to return, after `batches` batches of this call.
using ShallLeave = std::function<bool(std::uint64_t batches)>;

// A loop over the batches of a worker. It ends after the last batch, or when the worker is to leave.
//
// If `agreed`, all workers process batches in rounds: all read, each computes, then they write one after the
// other, by worker number; they leave before the same round. So the values after each round are the same in
// every run, bit for bit, also after a resume. A worker without a batch takes part. A round costs one barrier
// of all workers per worker, and two more.
class AgreedRounds {
 public:
  // If `agreed`, every worker must make one.
  AgreedRounds(Worker& worker, bool agreed) : worker_(worker), agreed_(agreed) {}

  // Whether there is another round. `has_batch`: whether this worker has a batch for it.
  bool next(bool has_batch, const ShallLeave& shall_leave) {
    const bool leaves = shall_leave && shall_leave(rounds_++);
    if (!agreed_) return has_batch && !leaves;
    std::array<std::int64_t, 2> any{leaves ? 1 : 0, has_batch ? 1 : 0};
    worker_.all_reduce(any, Reduce::max);
    return any[0] == 0 && any[1] == 1;
  }
  // Called between reading and writing.
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
