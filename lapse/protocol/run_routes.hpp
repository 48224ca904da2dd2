// Which keys of an operation travel together, and where to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/operation_state.hpp"
#include "lapse/protocol/table_shard.hpp"

namespace lapse {

// Chooses the routes of all items of an operation in one pass, and sorts the items by destination. A plain
// item travels in a run: its key is absent here, nothing else of the worker on the key is unanswered, and the
// state of memory alone decides where it goes. Memory is kept from one operation to the next.
//
// Thread safety: the holder of the progress lock.
class RunRoutes {
 public:
  // Plain items with one destination: the positions begin to end - 1 of OperationState::order.
  struct Bucket {
    Rank to;
    bool by_home = false;  // this rank is the home and routes by its table
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  // For the items from `first` on: notes in every plain item where it is sent, and in the operation their
  // order, behind that of the items before.
  void choose(OperationState& operation, std::size_t first) LAPSE_REQUIRES(progress_role);

  std::span<const Bucket> buckets() const { return buckets_; }
  // The other items, in their order.
  std::span<const std::uint32_t> others() const { return others_; }

 private:
  // Room for a bucket for each rank and way.
  void prepare(std::size_t ranks);

  // by 2 * rank + by_home: the items of each bucket, and then their next position
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> places_;  // by item: its position in counts_, or kOther
  std::vector<std::uint32_t> used_;    // positions in counts_ that are not zero
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> others_;
};

}  // namespace lapse
