// Moving keys: localize, INSTRUCT, TRANSFER (Lapse paper, section 3.2).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lapse/protocol/access.hpp"
#include "lapse/protocol/frame_handler.hpp"
#include "lapse/protocol/lease_request.hpp"
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
// 4. A leased key behaves like an arriving one; the end of the lease is the arrival.
// 5. At every moment at most one domain owns a key (I1): the old owner forgets it in the step that sends it
// off.
class Relocation : public FrameHandler {
 public:
  Relocation(const ProtocolContext& context, Access& access) : context_(context), access_(access) {}

  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override;

  using Clock = OperationState::Clock;

  // Asks for a key that this rank serves and that is not here and not arriving; `waiter` (or nobody) is told
  // when it has come.
  void begin(TableState& table, Key key, Waiter waiter, Clock::time_point now);
  // So many keys that the waiter asked for have come.
  void tell(Waiter waiter, std::uint32_t keys = 1);
  // The content of a key is in `slot`, and nobody may see it before what waits at `place` has been worked off
  // and has left it open, leased or gone.
  void work_off(TableState& table, Key key, std::uint32_t place, Slot slot, Clock::time_point now);

  // Somebody who waited for a lease: has got it, or, when the key has left, has to ask once more.
  struct Resumed {
    LeaseAsker asker;
    TableState* table;
    Key key;
    bool granted;
  };
  std::vector<Resumed> take_resumed() { return std::exchange(resumed_, {}); }
  bool has_resumed() const { return !resumed_.empty(); }

 private:
  // At the home.
  void relocate(TableState& table, Key key, Domain requester, Clock::time_point now);
  // At the old owner.
  void instruct(TableState& table, Key key, Domain next, std::uint32_t relocations, Clock::time_point now);
  // At the new owner.
  void arrive(TableState& table, const TransferRecord& record, const std::byte* content,
              Clock::time_point now);
  void settle(TableState& table, Key key, std::uint32_t place, Slot slot, LeaseState lease);
  void pass_on(TableState& table, Key key, std::uint32_t place, Slot slot, std::size_t position,
               Clock::time_point now);
  static void close_place(TableState& table, Key key, std::uint32_t place);

  // A TRANSFER into which fill(std::byte*) writes the content, and then makes the word absent. It is not sent
  // when fill returns false or throws while the key is still here.
  template <class Fill>
  bool transfer(TableState& table, Key key, Domain next, std::uint32_t relocations, Fill&& fill);

  ProtocolContext context_;
  Access& access_;
  std::vector<Resumed> resumed_;
};

}  // namespace lapse
