// An operation of a worker, from its submission until its last answer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/protocol/payloads.hpp"
#include "lapse/protocol/unanswered_table.hpp"
#include "lapse/transport/submission_queue.hpp"

namespace lapse {

class WorkerEndpoint;
struct TableState;

enum class OperationKind : std::uint8_t { pull, push, set, localize };

constexpr FrameKind frame_kind(OperationKind kind) {
  switch (kind) {
    case OperationKind::pull:
      return FrameKind::pull;
    case OperationKind::push:
      return FrameKind::push;
    case OperationKind::set:
      return FrameKind::set;
    case OperationKind::localize:
      break;
  }
  return FrameKind::localize;
}

// Filled by the worker, then the engine's until `remaining` is zero. Pooled by the worker's endpoint.
struct OperationState : Submission {
  using Clock = std::chrono::steady_clock;

  struct Item {
    Key key;
    std::uint32_t position;     // of the key in the call: row of the values
    UnansweredKey* unanswered;  // null for localize
    bool under_way = false;     // the engine's: sent off or queued, and not yet answered
  };

  // constant for the endpoint's life
  WorkerEndpoint* worker = nullptr;
  std::uint64_t number = 0;  // names this object on the wire

  OperationKind kind = OperationKind::pull;
  TableState* table = nullptr;
  std::vector<Item> items;                  // keys that could not be handled directly
  std::vector<std::byte> payload;           // push and set: one row for each item
  std::byte* destination = nullptr;         // pull: the first row of the call; null once detached
  std::atomic<std::uint32_t> remaining{0};  // items without answer

  bool done() const { return remaining.load(std::memory_order_acquire) == 0; }
};

// One key of an operation, wherever it is.
struct OperationPart {
  FrameKind kind = FrameKind::pull;  // pull, push or set
  Rank origin;
  std::uint64_t operation = 0;
  Key key;
  std::uint32_t item = 0;
  const std::byte* value = nullptr;  // push and set: the update
};

}  // namespace lapse
