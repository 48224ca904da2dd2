// Finds the keys of an operation that travel together, and their destinations.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/operation_state.hpp"
#include "lapse/protocol/worker/routes_in_flight.hpp"

namespace lapse {

// Chooses the routes of the next items of an operation in one pass, and sorts them by destination. A plain
// item travels in a run: its key is absent here, and the route that this state of memory decides is that of
// the worker's unanswered operations on the key. Memory is reused from one operation to the next.
//
// Call begin, add for all items in their order, and end in one step of the engine. Each throws std::bad_alloc
// if out of memory: then the operation keeps its order, and begin may follow.
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

  // Begins with item number `first`; at most `most` items will be added. RoutesInFlight::begin comes before.
  void begin(const OperationState& operation, std::size_t first, std::size_t most)
      LAPSE_REQUIRES(progress_role);
  // Adds the next items, at most kMaxAtOnce. `words`: the slot words of their keys, null if a key has none. A
  // plain item counts as in flight from now on, and stores its destination.
  static constexpr std::size_t kMaxAtOnce = Store::kMaxAtOnce;
  void add(std::span<OperationState::Item> items, const Store::Word* const* words)
      LAPSE_REQUIRES(progress_role);
  // Like add, for any number of items that have been made before.
  void add_all(std::span<OperationState::Item> items) LAPSE_REQUIRES(progress_role);
  // Stores the order of the items in the operation, after that of the items before.
  void end(OperationState& operation) LAPSE_REQUIRES(progress_role);

  std::span<const Bucket> buckets() const { return buckets_; }
  // The other items, in their order.
  std::span<const std::uint32_t> others() const { return others_; }

 private:
  enum class Alone : std::uint8_t { yes, no };  // RoutesInFlight::is_alone()
  template <Alone alone_in_flight>
  void add(std::span<OperationState::Item> items, const Store::Word* const* words)
      LAPSE_REQUIRES(progress_role);
  // An item of those that are being added.
  void leave_to_others(std::size_t i) {
    places_[items_ + i] = kOther;
    others_.push_back(first_ + items_ + static_cast<std::uint32_t>(i));
  }

  // The place of a bucket: 2 * rank + by_home.
  std::vector<std::uint32_t> places_;  // by item: the place of its bucket, or kOther
  std::vector<std::uint32_t> used_;    // places of buckets that are not empty
  std::vector<std::uint8_t> is_used_;  // by place
  // By place: the number of items in a bucket, in several counters that are used in turn, because a single
  // one would wait for its own last change. Afterwards, the first counter is the next position of an item.
  struct Count {
    static constexpr std::size_t kWays = 4;
    std::uint32_t items[kWays] = {};
  };
  std::vector<Count> counts_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> others_;
  // The items that are being added.
  std::array<Key, kMaxAtOnce> keys_;
  std::array<Domain, kMaxAtOnce> homes_;
  std::array<RecentKeys::Line*, kMaxAtOnce> lines_;
  // The current operation.
  const TableShard* table_ = nullptr;
  RoutesInFlight* in_flight_ = nullptr;  // of its worker; null if the operation is alone
  std::uint32_t first_ = 0;
  std::uint32_t items_ = 0;  // added

  static constexpr std::uint32_t kOther = 0xffff'ffffU;
};

}  // namespace lapse
