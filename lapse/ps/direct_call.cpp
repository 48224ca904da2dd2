#include "lapse/ps/direct_call.hpp"

#include <cstddef>

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
    local_.carry_out_next(kPieceKeys, [&](const Row& row) { builder_.add(row); });
    if (operation.items.size() > items) access_.submit_piece(operation, items, joins);
    if (local_.at_end()) break;
    access_.send_early(kPieceBytes);
  }
  operation.worker->all_built(operation);
}

}  // namespace lapse
