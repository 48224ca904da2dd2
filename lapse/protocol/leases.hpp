// Keys that a worker has for itself.
#pragma once

#include "lapse/protocol/frame_handler.hpp"
#include "lapse/protocol/lease_request.hpp"
#include "lapse/protocol/protocol_context.hpp"
#include "lapse/protocol/relocation.hpp"
#include "lapse/transport/submission_queue.hpp"

namespace lapse {

// A request gets its keys one after the other in ascending order of table and key, waiting for each where
// operations wait too: at the key's arrival, or behind the lease of another worker. A key that another rank
// of the domain serves is taken in the memory that both share if it is there and nobody has it; else the
// other rank is asked, and grants it when its turn comes.
//
// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. Whoever waits for a key holds only smaller ones, and who holds all its keys waits for nothing: so some
// request always gets on, on all ranks together.
// 2. A request that asks for a key that is not here stands in the queue of its arrival before any INSTRUCT:
// the key cannot pass by. One that joins an arrival late may stand behind an INSTRUCT; then it asks anew when
// the key has left.
class Leases : public SubmissionHandler, public FrameHandler {
 public:
  Leases(const ProtocolContext& context, Relocation& relocation)
      : context_(context), relocation_(relocation) {}

  void handle_submission(Submission& submission) override;
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override;
  // Goes on with the requests whose turn has come.
  void resume();

 private:
  // Goes on until the request has everything, waits for something, or fails: then it holds nothing.
  void advance(LeaseRequest& request);
  void grant(LeaseRequest& request);
  void fail(LeaseRequest& request);
  void release(LeaseRequest& request);
  static void finish(LeaseRequest& request);

  // For a key that this rank serves: true when `asker` has it now; else it has queued.
  bool acquire(TableState& table, Key key, const LeaseAsker& asker);
  void release_key(TableState& table, Key key);
  // Ask, tell or grant another rank of the domain; where `content` is given, it goes along.
  void send(FrameKind kind, Rank to, const TableState& table, Key key, std::uint64_t worker,
            const std::byte* content);
  void send_grant(const LeaseAsker& asker, const TableState& table, Key key);

  void take_grant(const FrameHeader& header, const std::byte* record);
  void take_release(TableState& table, Key key, const FrameHeader& header, const std::byte* record);

  ProtocolContext context_;
  Relocation& relocation_;
};

}  // namespace lapse
