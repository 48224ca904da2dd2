// One rank's part of a table: the keys that it serves, and access to the memory of its domain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/statistics/counters.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/ownership_table.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/table/accessed_keys.hpp"
#include "lapse/protocol/table/arrival_table.hpp"
#include "lapse/protocol/table/operation_kind.hpp"
#include "lapse/protocol/table/table_copies.hpp"
#include "lapse/protocol/table/table_definition.hpp"
#include "lapse/protocol/table/wanted_keys.hpp"
#include "lapse/store/memory/memory_reserve.hpp"
#include "lapse/store/row_elements.hpp"
#include "lapse/store/store.hpp"

namespace lapse {

// Thread safety: definition, sizes, serves, read, read_uninitialized and apply: any thread. The store: see
// store.hpp. Everything else: the holder of the progress lock.
//
// A key of a sparse table is *uninitialized* until its home creates it: no domain has memory for it. Its home
// counts as its owner. It answers pulls with the initial value, and creates the key when it is pushed to,
// called, leased or relocated.
class TableShard {
 public:
  // `make_store` returns a Store. (Stores do not move.)
  template <class MakeStore>
  TableShard(TableDefinition definition, MakeStore&& make_store, OwnershipTable owners)
      : definition_(std::move(definition)),
        store_(std::forward<MakeStore>(make_store)()),
        ownership_(std::move(owners)) {
    if (definition_.wants_accessed) accessed_ = std::make_unique<AccessedKeys>();
    if (store_.may_have_copies()) copies_ = std::make_unique<TableCopies>(store_, definition_.rule);
  }
  TableShard(const TableShard&) = delete;
  TableShard& operator=(const TableShard&) = delete;

  const TableDefinition& definition() const { return definition_; }
  TableId id() const { return definition_.id; }
  const std::string& name() const { return definition_.name; }
  Domain self_domain() const { return definition_.self_domain(); }
  Rank serving_rank(Key key, Domain domain) const { return definition_.serving_rank(key, domain); }
  Rank serving_rank(Key key) const { return definition_.serving_rank(key); }
  bool serves(Key key) const { return definition_.serves(key); }

  // --- values

  Store& store() { return store_; }
  const Store& store() const { return store_; }
  const ValueSizes& sizes() const { return store_.sizes(); }
  std::size_t value_bytes(Key key) const { return sizes().value_bytes(key); }
  // Bytes of the value and optimizer state.
  std::size_t content_bytes(Key key) const { return sizes().content_bytes(key); }

  // Copies the value to `to`. False if the key is not local, or leased.
  bool read(Key key, std::byte* to) const {
    return static_cast<bool>(store_.read(key, to)) || (store_.is_sparse() && read_uninitialized(key, to));
  }
  // Whether a replica can carry out the operation.
  bool may_use_copy(const ValueOperation& operation) const {
    if (is_read(operation.kind)) return true;
    if (operation.kind != OperationKind::push && operation.kind != OperationKind::push_elements) return false;
    const Copies copies = sizes().layout().copies;
    return copies == Copies::differences || (copies == Copies::gradients && operation.scale == 1.0F);
  }
  Store::Reach reach(const ValueOperation& operation) const {
    return may_use_copy(operation) ? Store::Reach::any : Store::Reach::main;
  }
  // One push, of a value or of elements, to the main copy, or to a replica in a table whose replicas merge by
  // gradients. `argument`: like apply.
  Found push_any(Store::Word& word, Key key, const ValueOperation& push, const std::byte* argument) {
    return store_.update_any_at(word, [&](std::byte* content, bool is_copy) {
      if (is_copy) {
        push_to_copy(push, key, content, argument);
      } else {
        apply(push, key, content, argument, nullptr);
      }
    });
  }

  // A push of elements to a replica, whose latch is held.
  void push_elements_to_copy(Key key, std::byte* content, const ElementRun& run, const std::byte* updates,
                             float scale) const {
    copies_->merger().push_elements(content, sizes().length(key), run.indices, updates, run.count, scale);
  }

  // Copies the initial value of an uninitialized key. False if only the holder of the progress lock can
  // decide that the key is uninitialized. Throws what an initialiser of the application throws.
  bool read_uninitialized(Key key, std::byte* to) const;

  // Applies an operation to a value. `content`: the key's value and optimizer state, to which the caller has
  // exclusive access. `argument`: the update, new value, argument or ElementPayload. `result`: space for the
  // value (pull), the elements (pull_elements) or the function's result. Throws what application code throws.
  void apply(const ValueOperation& operation, Key key, std::byte* content, const std::byte* argument,
             std::byte* result) const;

  // --- keys

  // The current state of a key, for routing.
  KeyView view(Key key) const LAPSE_REQUIRES(progress_role);
  // Like view, for an existing key whose value is neither here nor arriving here; returns false for other
  // keys. Fills in all fields except `self` and `home`, which the caller sets. `word`: the key's slot word,
  // null if it has none. `alone`: the domain has one member.
  bool view_absent(Key key, const Store::Word* word, bool alone, KeyView& view) const
      LAPSE_REQUIRES(progress_role) {
    if (word != nullptr)
      return view_absent(key, SlotWord(word->load(std::memory_order_acquire)), alone, view);
    // At its home, the key is uninitialized.
    if (view.home == view.self) return false;
    view.hint.reset();
    view.serves = alone || serves(key);
    return true;
  }
  bool is_uninitialized(Key key) const LAPSE_REQUIRES(progress_role);
  // Writes the value and rule state that a key has before its first push.
  void write_initial(Key key, std::byte* content) const;
  // Creates a key that has no memory yet, with its initial value. Throws OutOfMemory, or what an initialiser
  // of the application throws.
  void create(Key key) LAPSE_REQUIRES(progress_role);
  // At the creation of a dense table: creates all keys whose home is this domain and that this rank serves.
  void create_own_keys() LAPSE_REQUIRES(progress_role);
  // Creates the key if it is uninitialized.
  void ensure_exists(Key key) LAPSE_REQUIRES(progress_role) {
    if (is_uninitialized(key)) create(key);
  }

  // --- owners and their locations

  // At the home: makes `next` the owner of the key. A sparse key gets a slot word.
  OwnershipTable::Change relocate(Key key, Domain next) LAPSE_REQUIRES(progress_role) {
    const std::uint64_t index =
        store_.is_sparse() ? store_.make_number(key) : definition_.homes.home_index(key);
    return ownership_.relocate(index, next);
  }
  // At the home of a key of a dense table: returns its owner.
  Domain owner_by_table(Key key) const LAPSE_REQUIRES(progress_role) {
    return ownership_.owner(definition_.homes.home_index(key));
  }
  // At the home of a key of a dense table, before a call of relocate.
  void prefetch_owner(Key key) const LAPSE_REQUIRES(progress_role) {
    if (definition_.homes.computes_index()) ownership_.prefetch(definition_.homes.home_index(key));
  }
  // An answer about the key has arrived from `responder`.
  void remember_location(Key key, Domain responder) LAPSE_REQUIRES(progress_role);
  // Whether it is useful to look for a key's owner in its home's memory. It is not with two domains, because
  // a key that is not local is at its home; nor in a sparse table or with a custom map, because only the home
  // stores the positions of the keys.
  bool may_look_up_owners() const {
    return !store_.is_sparse() && definition_.cache.enabled() && definition_.domains.domains() > 2 &&
           definition_.homes.kind() != HomeMapKind::custom;
  }
  // Stores an owner that was read there as the key's hint, if the key has none.
  void remember_lookup(Key key, OwnershipTable::Entry entry) LAPSE_REQUIRES(progress_role);
  // The owners of the keys whose home is this domain, as other ranks may read them (dense tables).
  std::span<const OwnershipTable::Entry> owners() const LAPSE_REQUIRES(progress_role) {
    return ownership_.entries();
  }
  // The number under which every rank exposes its owners; nullopt if owners are not read remotely.
  std::optional<std::uint32_t> exposed_owners() const { return exposed_owners_; }
  // Called at the table's creation.
  void set_exposed_owners(std::uint32_t number) { exposed_owners_ = number; }

  // --- waiting operations and messages

  ArrivalTable& arrivals() LAPSE_REQUIRES(progress_role) { return arrivals_; }
  const ArrivalTable& arrivals() const LAPSE_REQUIRES(progress_role) { return arrivals_; }
  // Returns the arrival record, whose queue holds waiting operations, of a key that this rank serves and that
  // is arriving, leased, or in a replica's record. Nullopt if the key's lease has just ended.
  std::optional<std::uint32_t> arrival_record(Key key, ArrivalTable::Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  // --- replicas

  // Null if keys cannot have replicas.
  TableCopies* copies() LAPSE_REQUIRES(progress_role) { return copies_.get(); }
  const TableCopies* copies() const LAPSE_REQUIRES(progress_role) { return copies_.get(); }
  // Counts this domain's wants of each key that this rank serves: one for each intent of a worker of this
  // rank, and one for each other rank of the domain that wants the key.
  WantedKeys& wanted() LAPSE_REQUIRES(progress_role) { return wanted_; }
  const WantedKeys& wanted() const LAPSE_REQUIRES(progress_role) { return wanted_; }
  // Null unless the domain wants what it accesses.
  AccessedKeys* accessed() LAPSE_REQUIRES(progress_role) { return accessed_.get(); }
  // Whether there is memory for keys that arrive only because they are wanted.
  bool has_room_for_wanted() LAPSE_REQUIRES(progress_role) {
    const std::uint64_t bytes = store_.slab_bytes() + (copies_ ? copies_->base_bytes() : 0);
    return reserve_->allows(bytes - std::exchange(counted_bytes_, bytes));
  }
  // At the table's registration: sets the reserve that all tables of the rank share.
  void share_reserve(std::shared_ptr<MemoryReserve> reserve) LAPSE_REQUIRES(progress_role) {
    reserve_ = std::move(reserve);
  }

  // --- counters and memory

  TableCounters& counters() LAPSE_REQUIRES(progress_role) { return counters_; }
  const TableCounters& counters() const LAPSE_REQUIRES(progress_role) { return counters_; }
  // Bytes of the table on this rank, including this rank's part of shared memory: of slot words and lengths
  // of keys; of the owners of keys whose home is this domain; of both and the slots.
  std::size_t word_bytes() const { return store_.word_bytes() / definition_.members(); }
  std::size_t owner_bytes() const LAPSE_REQUIRES(progress_role);
  std::size_t memory_bytes() const LAPSE_REQUIRES(progress_role) {
    return word_bytes() + owner_bytes() + store_.slab_bytes() + copy_bytes();
  }
  // Bytes of replicas outside their slots.
  std::size_t copy_bytes() const LAPSE_REQUIRES(progress_role) {
    return copies_ ? copies_->memory_bytes() : 0;
  }

 private:
  void push_to_copy(const ValueOperation& push, Key key, std::byte* content, const std::byte* argument) const;
  bool view_absent(Key key, SlotWord word, bool alone, KeyView& view) const LAPSE_REQUIRES(progress_role) {
    if (word.role() != Role::absent) return false;
    view.serves = alone || serves(key);
    if (view.home != view.self) {
      view.hint = definition_.cache.look_up(word.hint());
      return true;
    }
    view.hint.reset();
    if (!view.serves) return true;
    const std::uint64_t index =
        store_.is_sparse() ? store_.known(key)->number : definition_.homes.home_index(key);
    view.owner_by_table = ownership_.owner(index);
    return view.owner_by_table != view.self;
  }

  // constant
  const TableDefinition definition_;
  std::optional<std::uint32_t> exposed_owners_;
  // thread safety of its own
  Store store_;
  // guarded by the progress lock
  OwnershipTable ownership_ LAPSE_GUARDED_BY(progress_role);
  ArrivalTable arrivals_ LAPSE_GUARDED_BY(progress_role);
  std::unique_ptr<TableCopies> copies_;  // its content is guarded by the progress lock
  WantedKeys wanted_ LAPSE_GUARDED_BY(progress_role);
  std::unique_ptr<AccessedKeys> accessed_;  // its content is guarded by the progress lock
  std::shared_ptr<MemoryReserve> reserve_ LAPSE_GUARDED_BY(progress_role) = std::make_shared<MemoryReserve>();
  std::uint64_t counted_bytes_ LAPSE_GUARDED_BY(progress_role) = store_.slab_bytes();  // in the reserve
  TableCounters counters_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
