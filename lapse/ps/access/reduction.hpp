// What a collective call of workers combines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/protocol/group/tree_reduction.hpp"

namespace lapse {

// The contribution of one worker, as it travels: what the call is, then its elements.
struct ReductionHeader {
  // returned: no call, but a worker that will make none any more.
  enum class Kind : std::uint8_t { barrier, reduce_double, reduce_int64, broadcast, returned, sync_barrier };

  Kind kind = Kind::barrier;
  Reduce reduce = Reduce::sum;
  std::uint8_t padding[2] = {};
  std::int32_t rank = 0;       // of the worker
  std::uint64_t root = 0;      // broadcast: index of the worker whose bytes count
  std::uint64_t elements = 0;  // reduce: numbers; broadcast: bytes
  std::uint64_t worker = 0;    // index of the worker that contributes; of a combination, of its first worker

  // Whether both workers make the same call.
  bool fits(const ReductionHeader& other) const {
    return kind == other.kind && reduce == other.reduce && root == other.root && elements == other.elements;
  }
};

// Throws UsageError for more than 2 GiB.
Bytes make_contribution(const ReductionHeader& header, std::span<const std::byte> elements);
// The elements of a combination of contributions to `call`, as many as the call has. Throws ProtocolError for
// what is none.
std::span<const std::byte> result_elements(const Bytes& result, const ReductionHeader& call);

// The contribution in place of one that does not come, as the worker has returned.
Bytes make_returned(std::uint64_t worker, Rank rank);
bool is_returned(const Bytes& contribution);
// Whether the workers that make this call wait until all ranks have synced too.
bool waits_for_sync(const Bytes& contribution);

// Combines two contributions to the same call; throws CollectiveMismatch, with both workers and their calls,
// when the calls differ.
void combine_contributions(Bytes& into, const Bytes& from);

}  // namespace lapse
