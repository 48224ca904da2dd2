// Handles keys that domains announce and are offered, in runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/records_by_rank.hpp"
#include "lapse/protocol/key/key_replication.hpp"
#include "lapse/protocol/modules/relocation.hpp"
#include "lapse/protocol/records/relocation_requests.hpp"
#include "lapse/protocol/records/replication_records.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// Handles a key that one domain wants until it is localized: ON, OFFER, LOCALIZE. Takes the plain case, in
// dense tables whose values have one length: the key is absent, then open without replicas, then awaited by
// nothing but the want. Passes every other key to KeyReplication, in its turn.
//
// Thread safety: the holder of the progress lock.
class CopyRuns {
 public:
  using Clock = KeyHolder::Clock;

  CopyRuns(const Registry& registry, Outbox& outbox, KeyReplication& keys, Relocation& relocation);

  // Whether keys of the table may be handled in runs.
  static bool suits(const TableShard& table) LAPSE_REQUIRES(progress_role);

  // The domain begins to want keys that this rank serves.
  void want(TableShard& table, std::span<const Key> keys, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // The domain ceases to want keys that this rank serves.
  void unwant(TableShard& table, std::span<const Key> keys, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // Handle the records of a frame ON, or OFFER (if it does not go to holders). Require that this rank serves
  // the keys.
  void take_ons(TableShard& table, const FrameHeader& header, const std::byte* records, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  void take_offers(TableShard& table, const FrameHeader& header, const std::byte* records,
                   Clock::time_point now) LAPSE_REQUIRES(progress_role);

 private:
  static constexpr std::size_t kKeysAtOnce = Relocation::kKeysAtOnce;

  // Calls f(keys) for the keys of a frame, kKeysAtOnce at a time, while their slot words are being
  // prefetched.
  template <class F>
  void for_each_part(TableShard& table, const FrameHeader& header, const std::byte* records, F&& f)
      LAPSE_REQUIRES(progress_role);
  // Whether there is memory for `keys` keys.
  static bool has_room(TableShard& table, std::uint32_t keys) LAPSE_REQUIRES(progress_role);
  void announce(TableShard& table, std::span<const Key> keys, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  Outbox& outbox_;
  KeyReplication& keys_;
  Relocation& relocation_;
  RecordsByRank<CopyRecord> records_ LAPSE_GUARDED_BY(progress_role);
  RecordsByRank<CopyRecord> by_home_ LAPSE_GUARDED_BY(progress_role);
  RelocationRequests requests_ LAPSE_GUARDED_BY(progress_role);
  // Scratch memory.
  std::vector<Key> part_ LAPSE_GUARDED_BY(progress_role);
  std::vector<Domain> homes_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
