// What happened to single keys of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "apps/viewer/allocation.hpp"

namespace lapse::apps {

struct AllocationWork;

struct KeyHistory {
  std::uint64_t key = 0;
  std::int32_t first_owner = 0;
  // ascending in time
  std::span<const KeyChange> changes;
  std::span<const KeyAccess> accesses;
};

// Calls on(history) for the keys with changes or accesses, ascending. The first owner of a key of a sparse
// table that no change makes is the first domain that accesses it, or else that has a change.
void for_each_history(const TableAllocation& table, const std::function<void(const KeyHistory&)>& on);

// When a domain sends what changes of its replicas have added up.
class Rounds {
 public:
  // At these times, ascending; each millisecond, if there are none.
  explicit Rounds(const std::vector<std::int64_t>& times) : times_(times) {}

  // The first round after a time; kNever: there is none.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::int64_t after(std::int64_t time) const;

 private:
  const std::vector<std::int64_t>& times_;
};

// What was done between domains for the key, by what its domains had of it when. `rounds`: of each domain.
AllocationWork work_of(const KeyHistory& history, const std::vector<Rounds>& rounds);

}  // namespace lapse::apps
