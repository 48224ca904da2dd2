// Moving keys: localize, INSTRUCT, TRANSFER (Lapse paper, section 3.2).
#pragma once

#include <cstdint>

#include "lapse/protocol/access.hpp"
#include "lapse/protocol/frame_handler.hpp"
#include "lapse/protocol/protocol_context.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. The home orders all relocations of a key: changing its table and telling the old owner are one step.
// 2. A key that arrives works off what has queued, in order, before its word says owner (I3).
// 3. An INSTRUCT that reaches an arriving key queues with the operations; when its turn comes, the value
// moves on and
//    what queued behind it goes to the home, in order.
// 4. At every moment at most one domain owns a key (I1): the old owner forgets it in the step that sends it
// off.
class Relocation : public SubmissionHandler, public FrameHandler {
 public:
  Relocation(const ProtocolContext& context, Access& access) : context_(context), access_(access) {}

  void handle_submission(Submission& submission) override;
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override;

 private:
  using Clock = OperationState::Clock;

  void begin(TableState& table, Key key, OperationState* waiter, Clock::time_point now);
  // At the home.
  void relocate(TableState& table, Key key, Domain requester, Clock::time_point now);
  // At the old owner.
  void instruct(TableState& table, Key key, Domain next, std::uint32_t relocations, Clock::time_point now);
  // At the new owner.
  void arrive(TableState& table, const TransferRecord& record, const std::byte* value, Clock::time_point now);
  void work_off_and_publish(TableState& table, Key key, std::uint32_t arrival, std::uint32_t slot,
                            Clock::time_point now);
  void pass_on(TableState& table, Key key, std::uint32_t arrival, std::uint32_t slot, std::size_t position,
               Clock::time_point now);

  // Room for the value in a TRANSFER.
  std::byte* append_transfer(TableState& table, Key key, Domain next, std::uint32_t relocations);

  ProtocolContext context_;
  Access& access_;
};

}  // namespace lapse
