// Moves keys: LOCALIZE, INSTRUCT, TRANSFER (Lapse paper, section 3.2), and REFUSE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/key/key_relocation.hpp"
#include "lapse/protocol/key/localize_answers.hpp"
#include "lapse/protocol/records/relocation_requests.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// Handles the frames, and moves many keys in runs: work that is equal for the keys of a run is done once.
// Runs take the plain case, in dense tables whose values have one length: a key leaves that is local and
// open, is requested while absent, or arrives with an empty queue. KeyRelocation handles every other key, in
// its turn.
//
// Thread safety: the holder of the progress lock.
class Relocation final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::localize},
                                          {FrameKind::instruct},
                                          {FrameKind::transfer, FrameLane::free},
                                          {FrameKind::transfer_with_members, FrameLane::free},
                                          {FrameKind::refuse, FrameLane::free}};
  // Keys that are handled together: what is prefetched for one of them stays in the cache until its turn.
  static constexpr std::size_t kKeysAtOnce = 128;

  Relocation(const Registry& registry, Outbox& outbox, LocalizeAnswers& answers, KeyRelocation& keys)
      : registry_(registry),
        outbox_(outbox),
        answers_(answers),
        keys_(keys),
        requests_(registry.ranks()),
        part_(kKeysAtOnce),
        homes_(kKeysAtOnce),
        leaving_(kKeysAtOnce) {}

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  // True if no key is arriving and nothing waits for the end of a lease.
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role);

  // Localizes at most kKeysAtOnce keys that this rank serves. Returns how many are local; `waiter` will be
  // notified for each of the others.
  std::uint32_t localize(TableShard& table, std::span<const Key> keys, Waiter waiter, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

 private:
  // A key that leaves this domain, and how often it has moved, including this time.
  struct Leaving {
    Key key;
    std::uint32_t relocations;
  };
  // A frame, or the next kKeysAtOnce of its records.
  struct Records {
    const FrameHeader& header;
    const std::byte* first;
    std::uint32_t count;
    Clock::time_point now;
  };

  void take_one_by_one(TableShard& table, const Records& records) LAPSE_REQUIRES(progress_role);
  // --- one kind of records each, which suits runs; this rank serves all keys
  void take_localizes(TableShard& table, const Records& records, std::span<const Key> keys)
      LAPSE_REQUIRES(progress_role);
  void take_instructs(TableShard& table, const Records& records, std::span<const Key> keys)
      LAPSE_REQUIRES(progress_role);
  void take_transfers(TableShard& table, const Records& records, std::span<const Key> keys)
      LAPSE_REQUIRES(progress_role);

  // Sends the keys to the domain `next`, to which the home has given them.
  void transfer(TableShard& table, std::span<const Leaving> leaving, Domain next, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  LocalizeAnswers& answers_;
  KeyRelocation& keys_;
  RelocationRequests requests_ LAPSE_GUARDED_BY(progress_role);
  // Scratch memory for keys that are handled together: those of a frame, their homes, and those that leave.
  std::vector<Key> part_ LAPSE_GUARDED_BY(progress_role);
  std::vector<Domain> homes_ LAPSE_GUARDED_BY(progress_role);
  std::vector<Leaving> leaving_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
