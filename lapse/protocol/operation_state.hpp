// An operation of a worker, from its submission until its last answer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/key_failure.hpp"
#include "lapse/protocol/operation_kind.hpp"
#include "lapse/protocol/unanswered_table.hpp"
#include "lapse/transport/submission_queue.hpp"

namespace lapse {

class TableShard;
class WorkerEndpoint;

// Filled by the worker, then the engine's until `remaining` is zero. Pooled by the worker's endpoint.
struct OperationState : Submission, ValueOperation {
  using Clock = std::chrono::steady_clock;

  struct Item {
    Key key;
    UnansweredKey* unanswered = nullptr;  // null for localize
    std::uint32_t offset = 0;             // of the key's row at the destination, in units of row_unit
    std::uint32_t payload_offset = 0;     // of its row in the payload, in units of payload_unit
    // Sent or queued, and not yet answered.
    bool in_flight LAPSE_GUARDED_BY(progress_role) = false;
  };

  // constant for the endpoint's life
  WorkerEndpoint* worker = nullptr;
  std::uint64_t number = 0;  // names this object on the wire

  // the worker's
  bool in_hand = false;   // a handle refers to it
  bool orphaned = false;  // the worker has been destroyed: the handle does nothing any more

  TableShard* table = nullptr;
  std::vector<Item> items;                  // keys that could not be handled directly
  std::vector<std::byte> payload;           // push and set: updates; call: arguments
  std::byte* destination = nullptr;         // pull: the call's values; call: its results; null once detached
  std::size_t row_unit = 1;                 // bytes that an offset at the destination counts
  std::size_t payload_unit = 1;             // bytes that an offset in the payload counts
  std::unique_ptr<KeyFailure> failure;      // the first of this operation
  std::atomic<std::uint32_t> remaining{0};  // items without answer

  // Where the value or result of an item goes; null once detached.
  std::byte* row(const Item& item) const {
    return destination == nullptr ? nullptr : destination + item.offset * row_unit;
  }
  bool done() const { return remaining.load(std::memory_order_acquire) == 0; }
  void fail(KeyFailure with) {
    if (!failure) failure = std::make_unique<KeyFailure>(std::move(with));
  }
};

// One key of an operation, on the rank where it is queued or executed.
struct OperationPart : ValueOperation {
  Rank origin;
  std::uint64_t operation = 0;
  Key key;
  std::uint32_t item = 0;
  const std::byte* value = nullptr;  // push and set: the update; call: the argument
};

}  // namespace lapse
