// A phase in which groups of workers begin and end, for libraries on top of the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/ps/groups.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

class Worker;

// A group in slots, as each of its ranks is given it.
struct GroupInSlots {
  struct Seats {
    Rank rank;
    std::vector<std::uint32_t> slots;
  };
  GroupNumber number = 0;
  std::vector<Seats> seats;           // by rank, each with slots; workers are numbered in this order
  std::function<void(Worker&)> work;  // of this rank's workers
};

// The workers of a group on this rank have returned, and their slots are free.
struct GroupPartEnd {
  GroupNumber number = 0;
  std::optional<GroupFailed> failure;   // if a worker of some rank has failed, as this rank knows it
  std::vector<TableCounters> counters;  // as in GroupEnd
  std::chrono::nanoseconds time{};      // the longest of a worker
};

// The slots of all ranks, as the control of one rank uses them.
//
// Thread safety: the holder of the progress lock; submit by any thread.
class Slots {
 public:
  virtual Rank rank() const = 0;
  virtual std::int32_t ranks() const = 0;
  // To the control of that rank, which may be this one.
  virtual void send(Rank to, std::span<const std::byte> message) LAPSE_REQUIRES(progress_role) = 0;
  // Begins a group with seats on this rank. Its other ranks begin it, too, earlier or later. Numbers rise:
  // each is above those of earlier phases, and of groups that this rank has begun before. Throws
  // ProtocolError if that is not so, or a slot is in use or does not exist.
  virtual void seat(GroupInSlots group) LAPSE_REQUIRES(progress_role) = 0;
  // Makes the workers of the group that are still there fail, on all its ranks. Called on one of them. No
  // effect if the group is retired here.
  virtual void abort(GroupNumber number, const std::string& text) LAPSE_REQUIRES(progress_role) = 0;
  // The group has ended on all its ranks. Until then this rank takes part in its collective calls.
  virtual void retire(GroupNumber number) LAPSE_REQUIRES(progress_role) = 0;
  // No group begins on this rank any more; those that are seated end. `last`: no higher number was used, on
  // any rank; equal on all ranks.
  virtual void end(GroupNumber last) LAPSE_REQUIRES(progress_role) = 0;
  // Any thread. The control handles the submission, which lives until then.
  virtual void submit(Submission& submission) = 0;

 protected:
  ~Slots() = default;
};

// Decides on one rank which groups begin there. What it throws ends the phase on all ranks, like the failure
// of a worker. It must not block.
//
// Thread safety: called by the holder of the progress lock, on any thread of the server.
class SlotControl : public SubmissionHandler {
 public:
  // The phase has begun, with groups numbered above `last`; `slots` lives until it ends.
  virtual void begin(Slots& slots, GroupNumber last) LAPSE_REQUIRES(progress_role) = 0;
  virtual void handle_message(Rank from, std::span<const std::byte> message)
      LAPSE_REQUIRES(progress_role) = 0;
  virtual void handle_end(const GroupPartEnd& end) LAPSE_REQUIRES(progress_role) = 0;

 protected:
  ~SlotControl() = default;
};

}  // namespace lapse
