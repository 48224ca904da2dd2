// What workers ask for when they call localize.
#pragma once

#include "lapse/protocol/frame_handler.hpp"
#include "lapse/protocol/protocol_context.hpp"
#include "lapse/protocol/relocation.hpp"
#include "lapse/transport/submission_queue.hpp"

namespace lapse {

// The rank that serves a key localizes it for all workers of the domain; the other ranks ask it by message
// and hear when the key has come.
//
// Thread safety: the holder of the progress lock.
class LocalizeRequests : public SubmissionHandler, public FrameHandler {
 public:
  LocalizeRequests(const ProtocolContext& context, Relocation& relocation)
      : context_(context), relocation_(relocation) {}

  void handle_submission(Submission& submission) override;
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override;

 private:
  using Clock = Relocation::Clock;

  // A key that this rank serves. True when it is here; else `waiter` will be told.
  bool localize(TableState& table, Key key, Waiter waiter, Clock::time_point now);
  void ask_serving_rank(const OperationState& operation, Key key);
  void handle_requests(const FrameHeader& header, const std::byte* records);
  void handle_answers(const FrameHeader& header, const std::byte* records) const;

  ProtocolContext context_;
  Relocation& relocation_;
};

}  // namespace lapse
