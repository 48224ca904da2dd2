#include "lapse/ps/direct_call.hpp"

#include <cstddef>
#include <new>

namespace lapse {

namespace {
constexpr std::size_t kPieceKeys = 512;
constexpr std::size_t kPieceBytes = 4000;  // of a packet that leaves before the next piece
}  // namespace

void DirectCall::handle_submission(Submission&) {
  OperationState& operation = builder_.state();
  if (!begun_) WorkerEndpoint::begin_build(operation);
  begun_ = true;
  local_.wait_for_latches(false);
  for (;;) {
    const std::size_t items = operation.items.size();
    const std::size_t joins = operation.joins.size();
    try {
      local_.carry_out_next(kPieceKeys, [&](const Row& row) { builder_.add(row); });
    } catch (const std::bad_alloc&) {
      operation.fail_without_memory(local_.next_key(), rank_);
      access_.refuse_piece(operation, items, joins);
      break;
    }
    if (operation.items.size() > items && !access_.submit_piece(operation, items, joins)) break;
    if (local_.at_end()) break;
    if (local_.meets_latch() && leave(operation)) return;
    access_.send_early(kPieceBytes);
  }
  is_complete_ = true;
  operation.worker->all_built(operation);
}

bool DirectCall::leave(OperationState& operation) {
  try {
    operation.worker->unanswered().part_ways();
  } catch (const std::bad_alloc&) {
    // Without what it takes to keep the order of operations, it waits for the latch inside the engine.
    local_.wait_for_latches(true);
    return false;
  }
  local_.expect_arrivals();
  local_.wait_for_latches(true);
  return true;
}

}  // namespace lapse
