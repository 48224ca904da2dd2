// What a rank stores about the copies of one table: those that its domain holds, and those of its owners.
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

// For a table whose keys may have copies. Thread safety: the holder of the progress lock.
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

  // The record of a replica that is not closed.
  std::uint32_t replica_number(Key key) LAPSE_REQUIRES(progress_role);
  Replica& replica(Key key) LAPSE_REQUIRES(progress_role) { return replicas_.at(replica_number(key)); }
  // Whether the slot holds a main copy that has members.
  static bool has_members(const std::byte* content) {
    const std::uint32_t record = SlotHead::of(content).record;
    return record != SlotHead::kNoRecord && (record & kMainBit) != 0;
  }
  // The number of the record of the key's main copy, which is at `content`; nothing where it has no members.
  std::optional<std::uint32_t> main_number(Key key, std::byte* content) LAPSE_REQUIRES(progress_role);
  MainCopy* main(Key key, std::byte* content) LAPSE_REQUIRES(progress_role) {
    const auto number = main_number(key, content);
    return number ? &mains_.at(*number) : nullptr;
  }
  // Most main copies that get a member are offered to it, and soon go there: as long as it is the only
  // one, it is noted in the slot, without a record. It shows no copy, so it is never dirty. There are no
  // members yet.
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
  // The record of the main copy, or of the replica, that is in a marked slot; nothing where the slot has been
  // released since it was marked.
  std::optional<std::uint32_t> main_in(Slot slot) LAPSE_REQUIRES(progress_role);
  std::optional<std::uint32_t> replica_in(Slot slot) LAPSE_REQUIRES(progress_role);
  static void set_main(std::byte* content, std::uint32_t number) {
    SlotHead::of(content).record = number | kMainBit;
  }

  // --- memory of copies: a slot, and a base where changes are merged by differences

  // Opens a record, and keeps room for a copy of the key; nothing where there is no memory for it. Where all
  // values have one length, slot and base are chosen by take_room: many announced keys come without a copy.
  std::optional<std::uint32_t> try_open(Replica replica) LAPSE_REQUIRES(progress_role);
  // The copy has a slot and a base from now on; its value has version 0 at first.
  void take_room(Replica& replica) LAPSE_REQUIRES(progress_role);
  // There will be no copy, or it is not used any more; `with_slot`: its slot is released, too.
  void release_room(Replica& replica, bool with_slot = true) LAPSE_REQUIRES(progress_role);
  // There will be no copy, but a main copy: the room for a slot, which was not chosen, is kept for it.
  void keep_slot_only() LAPSE_REQUIRES(progress_role) {
    if (needs_bases_) bases_->withdraw_promise();
  }
  // As try_open, for a copy in the slot that the record names, which holds a value already.
  std::optional<std::uint32_t> try_open_in_slot(Replica replica) LAPSE_REQUIRES(progress_role);
  std::byte* base(std::uint32_t base) const { return needs_bases_ ? bases_->address(base) : nullptr; }

  // --- keys for which this domain has been refused a copy, or has declined one, while it wants them

  bool is_refused(Key key) const LAPSE_REQUIRES(progress_role) {
    return !refused_.empty() && refused_.contains(key.value());
  }
  void refuse(Key key) LAPSE_REQUIRES(progress_role);
  void forget_refusal(Key key) LAPSE_REQUIRES(progress_role) {
    if (!refused_.empty()) refused_.erase(key.value());
  }

  // --- what the policy is to know

  SoleWants& sole_wants() LAPSE_REQUIRES(progress_role) { return sole_wants_; }
  const SoleWants& sole_wants() const LAPSE_REQUIRES(progress_role) { return sole_wants_; }

  // --- what the next round visits

  // Replicas that were changed, and could not send a DELTA yet.
  std::vector<std::uint32_t>& marked() LAPSE_REQUIRES(progress_role) { return marked_; }
  bool any_marked() const LAPSE_REQUIRES(progress_role);

  // Bytes of bases; of everything beside the slots.
  std::size_t base_bytes() const { return bases_ ? bases_->committed_bytes() : 0; }
  std::size_t memory_bytes() const LAPSE_REQUIRES(progress_role);

 private:
  // Of the record's number in the head of a slot: it is that of a main copy.
  static constexpr std::uint32_t kMainBit = std::uint32_t{1} << 31;
  // There is no record, but the number of the only member.
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
