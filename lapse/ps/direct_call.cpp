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
  WorkerEndpoint::begin_build(operation);
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
    access_.send_early(kPieceBytes);
  }
  operation.worker->all_built(operation);
}

}  // namespace lapse
