#include "lapse/ps/direct_call.hpp"

#include <cstddef>
#include <span>

namespace lapse {

namespace {
constexpr std::size_t kPieceKeys = 256;
constexpr std::size_t kPieceBytes = 4000;  // of a packet that leaves before the next piece
}  // namespace

void DirectCall::handle_submission(Submission&) {
  OperationState& operation = builder_.state();
  WorkerEndpoint::begin_build(operation);
  for (;;) {
    access_.begin_piece(operation, operation.items.size(), operation.joins.size(), kPieceKeys);
    make_piece(operation);
    access_.end_piece(operation);
    if (local_.at_end()) break;
    access_.send_early(kPieceBytes);
  }
  operation.worker->all_built(operation);
}

void DirectCall::make_piece(OperationState& operation) {
  LocalAccess::NotLocal undone;
  std::size_t left = kPieceKeys;
  while (left >= undone.words.size() && !local_.at_end() && !local_.expects_arrivals()) {
    left -= local_.carry_out_together(undone);
    builder_.add(local_.keys(), std::span(undone.positions).first(undone.count));
    access_.add_to_piece(std::span(operation.items).last(undone.count), undone.words.data());
  }
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
