// Which keys of an operation travel together, and where to.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/operation_state.hpp"

namespace lapse {

// Chooses the routes of the next items of an operation in one pass, and sorts them by destination. A plain
// item travels in a run: its key is absent here, nothing else of the worker on the key is unanswered, and the
// state of memory alone decides where it goes. Memory is kept from one operation to the next.
//
// begin, add for all items in their order, end: all in one step of the engine.
// Each throws std::bad_alloc where there is no memory: then the operation keeps its order, and begin may
// follow.
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

  // For the items from number `first` on, of which there will be at most `most`.
  void begin(const OperationState& operation, std::size_t first, std::size_t most)
      LAPSE_REQUIRES(progress_role);
  // The next items, at most kMaxAtOnce; `words`: the slot words of their keys, null where a key has none. A
  // plain item counts as in flight from now on, and its destination is noted in it.
  static constexpr std::size_t kMaxAtOnce = Store::kMaxAtOnce;
  void add(std::span<OperationState::Item> items, const Store::Word* const* words)
      LAPSE_REQUIRES(progress_role);
  // As add, for items that have been made before, however many.
  void add_all(std::span<OperationState::Item> items) LAPSE_REQUIRES(progress_role);
  // Notes the order of the items in the operation, behind that of the items before.
  void end(OperationState& operation) LAPSE_REQUIRES(progress_role);

  std::span<const Bucket> buckets() const { return buckets_; }
  // The other items, in their order.
  std::span<const std::uint32_t> others() const { return others_; }

 private:
  // A bucket has a place: 2 * rank + by_home.
  std::vector<std::uint32_t> places_;  // by item: that of its bucket, or kOther
  std::vector<std::uint32_t> used_;    // those of buckets that are not empty
  std::vector<std::uint8_t> is_used_;  // by place
  // By place, the items of a bucket, as several counters that change in turn: one would wait for its own last
  // change. Then the next position of an item, in the first of them.
  struct Count {
    static constexpr std::size_t kWays = 4;
    std::uint32_t items[kWays] = {};
  };
  std::vector<Count> counts_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> others_;
  // Of the items that are being added.
  std::array<Key, kMaxAtOnce> keys_;
  std::array<Domain, kMaxAtOnce> homes_;
  // Of the operation.
  const TableShard* table_ = nullptr;
  std::uint32_t first_ = 0;
  std::uint32_t items_ = 0;  // added

  static constexpr std::uint32_t kOther = 0xffff'ffffU;
};

}  // namespace lapse
