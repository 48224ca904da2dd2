#include "lapse/ps/access/direct_call.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>

namespace lapse {

namespace {
constexpr std::size_t kPieceKeys = 256;
}  // namespace

void DirectCall::handle_submission(Submission&) {
  OperationState& operation = builder_.state();
  local_.wait_for_latches(false);
  for (;;) {
    const Key first = local_.next_key();
    try {
      access_.begin_piece(operation, std::min(kPieceKeys, local_.remaining()));
      make_piece(operation);
    } catch (const std::bad_alloc&) {
      operation.fail_without_memory(first, rank_);
      access_.refuse_piece(operation);
      break;
    }
    if (!access_.end_piece(operation)) break;
    if (local_.at_end()) break;
    if (local_.meets_latch() && leave(operation)) return;
  }
  is_complete_ = true;
  operation.worker->all_built(operation);
}

bool DirectCall::leave(OperationState& operation) {
  try {
    Access::part_ways(operation);
  } catch (const std::bad_alloc&) {
    // Without memory to keep the order of operations, waits for the latch inside the engine.
    local_.wait_for_latches(true);
    return false;
  }
  local_.expect_arrivals();
  local_.wait_for_latches(true);
  return true;
}

void DirectCall::make_piece(OperationState& operation) {
  LocalAccess::NotLocal undone;
  std::size_t left = kPieceKeys;
  while (left >= undone.words.size() && !local_.at_end() && !local_.expects_arrivals()) {
    left -= local_.carry_out_together(undone);
    if (undone.count == 0) continue;
    builder_.add(local_.keys(), std::span(undone.positions).first(undone.count));
    access_.add_to_piece(std::span(operation.items).last(undone.count), undone.words.data());
  }
  if (local_.at_end()) return;
  undone.count = 0;
  local_.carry_out_next(left, [&](const Row& row, const Store::Word* word) {
    progress_role.assert_held();
    builder_.add(row);
    undone.words[undone.count++] = word;
    if (undone.count < undone.words.size()) return;
    access_.add_to_piece(std::span(operation.items).last(undone.count), undone.words.data());
    undone.count = 0;
  });
  access_.add_to_piece(std::span(operation.items).last(undone.count), undone.words.data());
}

}  // namespace lapse
