// The seats of the groups of workers that run at the same time, on one rank.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/ps/access/phase.hpp"
#include "lapse/ps/access/worker_group.hpp"
#include "lapse/ps/agreement/agreement.hpp"
#include "lapse/ps/groups.hpp"
#include "lapse/ps/phase/seat_runner.hpp"

namespace lapse {

// The number of workers that each group has on one rank.
using WorkersOfGroups = std::vector<std::int32_t>;

// Collective. Returns the numbers of workers of each rank. Throws, on every rank, UsageError (PeerFailed on
// the other ranks) for impossible numbers, CollectiveMismatch if the ranks name different numbers of groups.
std::vector<WorkersOfGroups> agree_on_groups(Agreement& agreement, std::span<const GroupPart> groups,
                                             Rank rank);

// The groups take the slots of the rank one after the other, each as many as it has workers here.
//
// Thread safety: made, and asked for ends, while no worker runs; run by the threads of the slots.
class GroupSeats {
 public:
  // `workers`: of each rank, by rank; each group has one at least. `all`: the phase that was agreed on. The
  // groups have the numbers from `first` on, and can make collective calls from now on. `parts` outlive the
  // object.
  GroupSeats(const Phase& all, std::span<const GroupPart> parts, std::span<const WorkersOfGroups> workers,
             GroupNumber first);
  GroupSeats(const GroupSeats&) = delete;
  GroupSeats& operator=(const GroupSeats&) = delete;

  // The worker in the slot.
  void run(SeatRunner& runner, std::size_t slot, GroupFailureReport& report);
  // When all workers of all ranks have returned.
  std::vector<GroupEnd> ends() const;

 private:
  struct Group {
    Group(const GroupPart& its_part, RankProtocol& protocol, ProgressEngine& engine, RankGroup& group)
        : part(its_part), workers(protocol, engine, group) {}

    const GroupPart& part;
    WorkerGroup workers;
    std::optional<Phase> phase;  // refers to `workers`
  };
  struct Slot {
    Group* group = nullptr;
    std::vector<TableCounters> counted;  // before
    std::chrono::nanoseconds time{};
  };

  RankProtocol& protocol_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Slot> slots_;  // each by its own thread
};

}  // namespace lapse
