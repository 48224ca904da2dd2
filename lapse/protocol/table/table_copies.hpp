// A rank's records of the replicas of one table: those that its domain holds, and those of the keys it owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/main_copies.hpp"
#include "lapse/protocol/table/replica_table.hpp"
#include "lapse/protocol/table/sole_wants.hpp"
#include "lapse/store/copy_merger.hpp"
#include "lapse/store/key_copies.hpp"
#include "lapse/store/memory/region.hpp"
#include "lapse/store/memory/slab.hpp"
#include "lapse/store/store.hpp"

namespace lapse {

// For a table whose keys may have replicas. Thread safety: the holder of the progress lock.
class TableCopies {
 public:
  // Throws OutOfMemory.
  TableCopies(Store& store, const UpdateKernel& rule);

  KeyCopies& keys() { return keys_; }
  const KeyCopies& keys() const { return keys_; }
  const CopyMerger& merger() const { return merger_; }
  ReplicaTable& replicas() LAPSE_REQUIRES(progress_role) { return replicas_; }
  const ReplicaTable& replicas() const LAPSE_REQUIRES(progress_role) { return replicas_; }
  MainCopies& mains() LAPSE_REQUIRES(progress_role) { return mains_; }
  const MainCopies& mains() const LAPSE_REQUIRES(progress_role) { return mains_; }

  // Returns the record of a replica that is not closed. Throws ProtocolError if the key has none.
  std::uint32_t replica_number(Key key) LAPSE_REQUIRES(progress_role);
  Replica& replica(Key key) LAPSE_REQUIRES(progress_role) { return replicas_.at(replica_number(key)); }
  // Whether the slot holds a main copy with other holders.
  static bool has_members(const std::byte* content) {
    const std::uint32_t record = SlotHead::of(content).record;
    return record != SlotHead::kNoRecord && (record & kMainBit) != 0;
  }
  // Returns the number of the record of the key's main copy, which is at `content`; nullopt if it has no
  // holders.
  std::optional<std::uint32_t> main_number(Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  MainCopy* main(Key key, std::byte* content) LAPSE_REQUIRES(progress_role) {
    const auto number = main_number(key, content);
    return number ? &mains_.at(*number) : nullptr;
  }
  // Most main copies that get a holder are offered to it and soon move there. As long as it is the only one,
  // the slot stores it, without a record. It has no replica yet, so it is never dirty. Requires that the main
  // copy has no holders.
  static void set_only_member(std::byte* content, Domain member) {
    SlotHead::of(content).record = record_of_only(member);
  }
  static std::uint32_t record_of_only(Domain member) {
    return kMainBit | kOnlyBit | static_cast<std::uint32_t>(member.value());
  }
  static bool has_only_member(const std::byte* content) {
    const std::uint32_t record = SlotHead::of(content).record;
    return record != SlotHead::kNoRecord && (record & (kMainBit | kOnlyBit)) == (kMainBit | kOnlyBit);
  }
  // Return the record of the main copy, or replica, in a marked slot; nullopt if the slot was released since.
  std::optional<std::uint32_t> main_in(Slot slot) LAPSE_REQUIRES(progress_role);
  std::optional<std::uint32_t> replica_in(Slot slot) LAPSE_REQUIRES(progress_role);
  static void set_main(std::byte* content, std::uint32_t number) {
    SlotHead::of(content).record = number | kMainBit;
  }

  // --- memory of replicas: a slot, and a base if changes are merged by differences

  // Opens a record and reserves memory for a replica of the key; nullopt if out of memory. If all values have
  // one length, take_room chooses slot and base later: many announced keys arrive without a replica. If the
  // record names a slot, which already holds a value, only a base is needed.
  std::optional<std::uint32_t> try_open(Replica replica) LAPSE_REQUIRES(progress_role);
  // Gives the replica a slot and a base. Its value has version 0 at first.
  void take_room(Replica& replica) LAPSE_REQUIRES(progress_role);
  // Releases the memory of a replica that will not exist or is no longer used; the slot only if `with_slot`.
  void release_room(Replica& replica, bool with_slot = true) LAPSE_REQUIRES(progress_role);
  // The key gets a main copy, not a replica: keeps the reserved slot (not chosen yet), and releases the base.
  void keep_slot_only() LAPSE_REQUIRES(progress_role) {
    if (needs_bases_) bases_->withdraw_promise();
  }
  std::byte* base(std::uint32_t base) const { return needs_bases_ ? bases_->address(base) : nullptr; }

  // --- keys that this domain wants, but of which it was refused, or has declined, a replica

  bool is_refused(Key key) const LAPSE_REQUIRES(progress_role) {
    return !refused_.empty() && refused_.contains(key.value());
  }
  void refuse(Key key) LAPSE_REQUIRES(progress_role);
  void forget_refusal(Key key) LAPSE_REQUIRES(progress_role) {
    if (!refused_.empty()) refused_.erase(key.value());
  }

  // --- for the policy

  SoleWants& sole_wants() LAPSE_REQUIRES(progress_role) { return sole_wants_; }
  const SoleWants& sole_wants() const LAPSE_REQUIRES(progress_role) { return sole_wants_; }

  // --- for the next round

  // Changed replicas that could not send a DELTA yet.
  std::vector<std::uint32_t>& marked() LAPSE_REQUIRES(progress_role) { return marked_; }
  const std::vector<std::uint32_t>& marked() const LAPSE_REQUIRES(progress_role) { return marked_; }
  bool any_marked() const LAPSE_REQUIRES(progress_role);

  // Bytes of the bases; bytes of everything except the slots.
  std::size_t base_bytes() const { return bases_ ? bases_->committed_bytes() : 0; }
  std::size_t memory_bytes() const LAPSE_REQUIRES(progress_role);

 private:
  // In the record number in a slot's head: it is the record of a main copy.
  static constexpr std::uint32_t kMainBit = std::uint32_t{1} << 31;
  // Instead of a record number, the slot's head stores the only holder.
  static constexpr std::uint32_t kOnlyBit = std::uint32_t{1} << 30;

  std::uint32_t base_units(Key key) const;
  bool try_prepare(Replica& replica) LAPSE_REQUIRES(progress_role);
  bool try_take_base(Replica& replica) LAPSE_REQUIRES(progress_role);

  Store& store_;
  KeyCopies keys_;
  CopyMerger merger_;
  bool needs_bases_;
  PrivateRegionAllocator regions_;
  std::optional<SlabAllocator> bases_;
  ReplicaTable replicas_ LAPSE_GUARDED_BY(progress_role);
  MainCopies mains_ LAPSE_GUARDED_BY(progress_role);
  std::unordered_set<std::uint64_t> refused_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::uint32_t> marked_ LAPSE_GUARDED_BY(progress_role);
  SoleWants sole_wants_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
