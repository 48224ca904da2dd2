// What one rank keeps of a table: for the keys that it serves, and to use the memory of its domain.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lapse/core/counters.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/ownership_table.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/arrival_table.hpp"
#include "lapse/protocol/operation_kind.hpp"
#include "lapse/protocol/table_definition.hpp"
#include "lapse/store/store.hpp"

namespace lapse {

// Thread safety: definition, sizes, serves, read, read_uninitialized and apply by any thread; the store follows
// its own rules (store.hpp); everything else by the holder of the progress lock.
//
// A key of a sparse table that nobody has pushed to is *uninitialized*: no domain has memory for it. Its home
// counts as its owner, answers pulls with the initial value, and creates the key when it is pushed to, called,
// leased or relocated.
class TableShard {
 public:
  // `make_store` is a function that returns a Store: stores do not move.
  template <class MakeStore>
  TableShard(TableDefinition definition, MakeStore&& make_store, OwnershipTable owners)
      : definition_(std::move(definition)),
        store_(std::forward<MakeStore>(make_store)()),
        ownership_(std::move(owners)) {}
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
  // Of the value and the state of the update rule.
  std::size_t content_bytes(Key key) const { return sizes().content_bytes(key); }

  // Copies the value to `to`; false when the key is not here or leased.
  bool read(Key key, std::byte* to) const {
    return store_.read(key, to) || (store_.is_sparse() && read_uninitialized(key, to));
  }
  // The same for an uninitialized key, where that is known without the progress lock. Throws what an
  // initialiser of the application throws.
  bool read_uninitialized(Key key, std::byte* to) const;

  // The one place that says what an operation does to a value: `content` is the key's value and rule state,
  // which the caller has to itself; `argument` the update, new value or argument, `result` room for the value
  // (pull) or the function's result. Throws what code of the application throws.
  void apply(const ValueOperation& operation, Key key, std::byte* content, const std::byte* argument,
             std::byte* result) const;

  // --- keys

  // What routing needs to know about a key now.
  KeyView view(Key key) const LAPSE_REQUIRES(progress_role);
  bool is_uninitialized(Key key) const LAPSE_REQUIRES(progress_role);
  // Writes the value and rule state that a key has before its first push.
  void write_initial(Key key, std::byte* content) const;
  // Makes a key that has no memory yet, with its initial value. Throws OutOfMemory, or what an initialiser of
  // the application throws.
  void create(Key key) LAPSE_REQUIRES(progress_role);
  // At the creation of a dense table: makes all keys at home here that this rank serves.
  void create_own_keys() LAPSE_REQUIRES(progress_role);
  // Creates the key if it is uninitialized.
  void ensure_exists(Key key) LAPSE_REQUIRES(progress_role) {
    if (is_uninitialized(key)) create(key);
  }

  // --- owners and their locations

  // At the home: the key belongs to `next` from now on; a sparse key gets a word.
  OwnershipTable::Change relocate(Key key, Domain next) LAPSE_REQUIRES(progress_role);
  // An answer about the key has come from `responder`.
  void remember_location(Key key, Domain responder) LAPSE_REQUIRES(progress_role);
  // Whether reading a key's owner in its home's memory would be of use: with two domains, a key that is not
  // here is at its home; and only the home has recorded the places of the keys of a sparse table or a custom
  // map.
  bool may_look_up_owners() const {
    return !store_.is_sparse() && definition_.cache.enabled() && definition_.domains.domains() > 2 &&
           definition_.homes.kind() != HomeMapKind::custom;
  }
  // What has been read there: a hint, and only where there is none.
  void remember_looked_up(Key key, OwnershipTable::Entry entry) LAPSE_REQUIRES(progress_role);
  // The owners of keys at home here, as other ranks may read them (dense tables).
  std::span<const OwnershipTable::Entry> owners() const LAPSE_REQUIRES(progress_role) {
    return ownership_.entries();
  }
  // The number under which every rank exposes its owners; nothing: nobody looks them up.
  std::optional<std::uint32_t> exposed_owners() const { return exposed_owners_; }
  // At the table's creation.
  void set_exposed_owners(std::uint32_t number) { exposed_owners_ = number; }

  // --- what waits for keys

  ArrivalTable& arrivals() LAPSE_REQUIRES(progress_role) { return arrivals_; }
  const ArrivalTable& arrivals() const LAPSE_REQUIRES(progress_role) { return arrivals_; }
  // The arrival record of a key that this rank serves and that is arriving or leased: there operations wait.
  // Nothing when its lease has just ended.
  std::optional<std::uint32_t> arrival_record(Key key) LAPSE_REQUIRES(progress_role);

  // --- what there is

  TableCounters& counters() LAPSE_REQUIRES(progress_role) { return counters_; }
  const TableCounters& counters() const LAPSE_REQUIRES(progress_role) { return counters_; }
  // Memory of the table on this rank; of what the domain shares, its part. Words and lengths; owners of keys
  // at home here; slots.
  std::size_t word_bytes() const { return store_.word_bytes() / definition_.members(); }
  std::size_t owner_bytes() const LAPSE_REQUIRES(progress_role);
  std::size_t memory_bytes() const LAPSE_REQUIRES(progress_role) {
    return word_bytes() + owner_bytes() + store_.slab_bytes();
  }

 private:
  // constant
  const TableDefinition definition_;
  std::optional<std::uint32_t> exposed_owners_;
  // own rules
  Store store_;
  // guarded by the progress lock
  OwnershipTable ownership_ LAPSE_GUARDED_BY(progress_role);
  ArrivalTable arrivals_ LAPSE_GUARDED_BY(progress_role);
  TableCounters counters_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
