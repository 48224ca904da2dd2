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
  // order, behind that of the items before. Throws std::bad_alloc: then the operation keeps its order.
  void choose(OperationState& operation, std::size_t first) LAPSE_REQUIRES(progress_role);

  std::span<const Bucket> buckets() const { return buckets_; }
  // The other items, in their order.
  std::span<const std::uint32_t> others() const { return others_; }

 private:
  // Nothing has been counted; there is room for so many items, and for a bucket for each rank and way.
  void prepare(std::size_t ranks, std::size_t items);
  // After all places have been chosen.
  void make_buckets(OperationState& operation, std::size_t first) LAPSE_REQUIRES(progress_role);

  // A bucket has a place: 2 * rank + by_home.
  std::vector<std::uint32_t> places_;  // by item: that of its bucket, or kOther
  std::vector<std::uint32_t> used_;    // those of buckets that are not empty
  std::vector<std::uint8_t> is_used_;  // by place
  // By place, the even and the odd items of a bucket, as two counters that change in turn are faster than one
  // that waits for its own last change; then the next position of an item, in the first of them.
  struct Count {
    std::uint32_t items[2] = {0, 0};
  };
  std::vector<Count> counts_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> others_;
};

}  // namespace lapse
