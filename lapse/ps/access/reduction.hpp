// The contributions of workers to collective calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/protocol/group/tree_reduction.hpp"
#include "lapse/protocol/host/quiescence.hpp"

namespace lapse {

// The header of one worker's contribution: describes the call; its elements follow.
struct ReductionHeader {
  // returned: no call, but a worker that makes no further call.
  enum class Kind : std::uint8_t { barrier, reduce_double, reduce_int64, broadcast, returned, sync_barrier };

  Kind kind = Kind::barrier;
  Reduce reduce = Reduce::sum;
  std::uint8_t padding[2] = {};
  std::int32_t rank = 0;       // of the worker
  std::uint64_t root = 0;      // broadcast: index of the worker whose bytes count
  std::uint64_t elements = 0;  // reduce: numbers; broadcast: bytes
  std::uint64_t worker = 0;    // index of the contributing worker; of a combination, of its first worker

  // Returns true if both workers make the same call.
  bool fits(const ReductionHeader& other) const {
    return kind == other.kind && reduce == other.reduce && root == other.root && elements == other.elements;
  }
};

// Throws UsageError if larger than 2 GiB.
Bytes make_contribution(const ReductionHeader& header, std::span<const std::byte> elements);
Bytes make_sync_contribution(ReductionHeader header);
// Returns the elements of a combination of contributions to `call`, as many as the call has. Throws
// ProtocolError if it is none.
std::span<const std::byte> result_elements(const Bytes& result, const ReductionHeader& call);

// The contribution of a worker that has returned, in place of its next one.
Bytes make_returned(std::uint64_t worker, Rank rank);
bool is_returned(const Bytes& contribution);
// Returns true if the workers that make this call also wait until all ranks have synced.
bool waits_for_sync(const Bytes& contribution);
// The elements of a contribution to a sync_barrier are counts, which are added: zeros where the worker makes
// it.
QuiescenceCounts sync_counts(const Bytes& contribution);
void add_sync_counts(Bytes& contribution, const QuiescenceCounts& counts);

// Combines two contributions to the same call. Throws CollectiveMismatch, with both workers and their calls,
// if the calls differ.
void combine_contributions(Bytes& into, const Bytes& from);

}  // namespace lapse
