// Pull, push, set and call where memory could not be used directly: routing and answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "lapse/protocol/execution.hpp"
#include "lapse/protocol/frame_handler.hpp"
#include "lapse/protocol/owner_lookups.hpp"
#include "lapse/protocol/protocol_context.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. Deciding where an operation goes and putting it there are one step: nothing else of this rank comes
// between.
// 2. An operation is answered exactly once, to the rank it came from, by whoever executes it (I2).
// 3. While a worker has an operation on a key unanswered, its next one on that key follows the same entry
// (I3, I4);
//    when an answer has shown that entry to be out of date, the next one waits for the answers (held).
// 4. While a worker's first operation on a key waits for the key's owner to be read, all its operations on
// the
//    key wait behind it, in program order, as if it made the calls later.
class Access : public SubmissionHandler, public FrameHandler {
 public:
  Access(const ProtocolContext& context, OwnerLookups& lookups)
      : context_(context), execution_(context), lookups_(lookups) {}

  void handle_submission(Submission& submission) override;
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override;

  // Executes an operation that waited, on the content that has arrived or whose lease has ended.
  void execute_waiting(TableState& table, const OperationPart& part, std::byte* content);
  // Sends an operation that waited here to the key's home; the key has left meanwhile.
  void forward_to_home(TableState& table, const OperationPart& part);

  // The owner of a key has been read: what waited for it goes on.
  void finish_lookup(const RemoteReads::Finished& read);

  // Operations that wait for a route.
  std::uint64_t held() const { return held_; }

 private:
  // `may_look_up`: the owner, if it is not known.
  void submit_item(OperationState& operation, std::uint32_t item, bool may_look_up = true);
  // An operation of a worker waits, and with it all that the worker submits on the key.
  void hold(OperationState& operation, std::uint32_t item, const Route& route);
  // Submits what was held, in program order.
  void resume(UnansweredKey& unanswered, bool may_look_up);
  // An operation that `route` executes or queues here, or the other way round, where a lease has begun or
  // ended meanwhile. Returns whether it has been executed.
  bool execute_or_queue(TableState& table, const OperationPart& part, const Route& route);
  [[noreturn]] static void throw_astray(const TableState& table, const OperationPart& part);
  void send(TableState& table, const OperationPart& part, const Route& route);

  void handle_operations(const FrameHeader& header, const std::byte* records);
  void handle_answers(const FrameHeader& header, const std::byte* records);
  // What the user's code has thrown at the owner.
  void take_failure(OperationState& operation, Key key, const FrameHeader& header,
                    const std::byte* text) const;
  // The operation of this rank that `part` belongs to. Throws ProtocolError when it does not wait for the
  // key.
  OperationState& own_operation(const TableState& table, const OperationPart& part) const;
  // An operation that was under way has been answered by `responder`.
  void finish_under_way(OperationState& operation, std::uint32_t item, Domain responder);
  // Counts answered items and tells the worker.
  void finish(OperationState& operation, std::uint32_t items);

  ProtocolContext context_;
  Execution execution_;
  OwnerLookups& lookups_;
  std::uint64_t held_ = 0;
};

}  // namespace lapse
