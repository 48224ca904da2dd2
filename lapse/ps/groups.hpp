// Groups of workers that run on one server at the same time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

class SlotControl;
class Worker;

// Thrown by every call of a group's workers once one of them has failed or their collective calls differ.
class LAPSE_EXPORT GroupFailed : public Error {
 public:
  GroupFailed(Rank origin, std::string text);
  // The rank of the failure, and what it reported. If workers of several ranks fail at the same time, ranks
  // may name different ones.
  Rank origin() const { return origin_; }
  const std::string& text() const { return text_; }

 private:
  Rank origin_;
  std::string text_;
};

// One rank's part of a group. The log numbers groups over all calls of run_groups, from 1.
struct GroupPart {
  std::int32_t workers = 0;  // of this rank
  // What each of them runs. In the worker, index(), count(), local_index() and local_count() are those in the
  // group, and collective calls are those of the group.
  std::function<void(Worker&)> work;
  // For libraries on top of the server, in the only part of a call, on every rank, in place of `work`: the
  // workers are slots, in which this seats groups that begin and end during the call
  // (lapse/ps/phase/slot_control.hpp). 0 workers are allowed, except on all ranks. Returns no GroupEnd.
  SlotControl* control = nullptr;
};

// How a group has ended.
struct GroupEnd {
  // On every rank, if a worker of some rank has failed. What the workers had written until then stays.
  std::optional<GroupFailed> failure;
  // Of this rank's workers of the group: by table, their calls and what they have accessed in memory; and the
  // longest time of one. Accesses by message are counted for the rank, not the group (Statistics).
  std::vector<TableCounters> counters;
  std::chrono::nanoseconds time{};
};

}  // namespace lapse
