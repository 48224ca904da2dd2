// Everything a rank keeps of one table: for the keys that it serves, and to use the memory of its domain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "lapse/core/counters.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/domain_map.hpp"
#include "lapse/directory/home_map.hpp"
#include "lapse/directory/location_cache.hpp"
#include "lapse/directory/ownership_table.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/arrival_table.hpp"
#include "lapse/store/initialiser.hpp"
#include "lapse/store/store.hpp"
#include "lapse/store/update_kernel.hpp"

namespace lapse {

// The store follows its own rules (store.hpp); the rest is guarded by the progress lock or constant.
//
// A key of a sparse table that nobody has pushed to is nowhere: its home counts as its owner, answers pulls
// with the initial value, and makes the key when it is pushed to, called, leased or sent elsewhere.
struct TableState {
  struct Definition {
    TableId id;
    std::string name;
    UpdateKernel rule;
    Initialiser initialiser;
    std::uint64_t seed = 0;
    bool location_caches = true;
  };

  // Which part of the table this is; `domains` outlives it.
  struct Place {
    const DomainMap& domains;
    Rank rank;
    HomeMap homes;  // of the rank's domain
  };

  // `make_store` is what Store's constructors want, in a function that returns one.
  template <class MakeStore>
  TableState(Definition definition, Place place, MakeStore&& make_store, OwnershipTable owners)
      : id(definition.id),
        name(std::move(definition.name)),
        domains(place.domains),
        self_rank(place.rank),
        home_map(std::move(place.homes)),
        rule(std::move(definition.rule)),
        cache(definition.location_caches),
        initialiser(std::move(definition.initialiser)),
        seed(definition.seed),
        store(std::forward<MakeStore>(make_store)()),
        ownership(std::move(owners)) {}

  Domain self_domain() const { return home_map.self(); }
  Rank serving_rank(Key key, Domain domain) const { return domains.serving_rank(key, domain); }
  std::size_t members() const { return domains.members(self_domain()).size(); }
  // Whether this rank's engine is the one that decides about the key for this domain.
  bool serves(Key key) const { return domains.serving_rank(key, self_domain()) == self_rank; }

  // Memory of the table on this rank; of what the domain shares, its part. Words and lengths; owners of keys
  // at home here; slots.
  std::size_t word_bytes() const { return store.word_bytes() / members(); }
  std::size_t owner_bytes() const;
  std::size_t memory_bytes() const { return word_bytes() + owner_bytes() + store.slab_bytes(); }

  std::size_t value_bytes(Key key) const { return store.sizes().value_bytes(key); }
  std::size_t content_bytes(Key key) const { return store.sizes().content_bytes(key); }

  // What routing needs to know about a key now.
  KeyView view(Key key) const;
  // Position of a key whose home is here in the ownership table; a sparse key gets a word.
  std::uint64_t ownership_index(Key key);
  // Nobody has pushed to the key, and its home is here: it is here with its initial value, without a word.
  bool is_implicit(Key key) const;
  // Writes the content that a key has before its first push.
  void write_initial(Key key, std::byte* content) const;
  // Makes a key that is implicit. Throws OutOfMemory, or what a function of the user throws.
  void create_implicit(Key key);
  // The same if the key is implicit.
  void ensure_exists(Key key) {
    if (is_implicit(key)) create_implicit(key);
  }

  // Copies the value to `to`; false when the key is not here or leased. Any thread.
  bool read(Key key, std::byte* to) const {
    return store.read(key, to) || (store.is_sparse() && read_implicit(key, to));
  }
  // The same for a key that nobody has pushed to, where that is known without the progress lock. Throws what
  // an initialiser of the application throws.
  bool read_implicit(Key key, std::byte* to) const;
  void apply_push(Key key, std::byte* content, const std::byte* update, float scale) const {
    rule.apply(content, update, store.sizes().length(key), scale);
  }
  // Replaces the value; the state of the rule starts anew.
  void apply_set(Key key, std::byte* content, const std::byte* value) const {
    std::memcpy(content, value, value_bytes(key));
    rule.initialise(content, store.sizes().length(key));
  }

  // An answer about the key has come from `responder`.
  void remember_location(Key key, Domain responder);

  // Whether reading a key's owner in its home's memory would be of use: with two domains, a key that is not
  // here is at its home; and the home alone knows the places of the keys of a sparse table or a custom map.
  bool may_look_up_owners() const {
    return !store.is_sparse() && cache.enabled() && domains.domains() > 2 &&
           home_map.kind() != HomeMapKind::custom;
  }
  // What has been read there: a hint, and only where there is none.
  void remember_looked_up(Key key, OwnershipTable::Entry entry);

  // Where operations wait for a key that this rank serves and that is arriving or leased; nothing when its
  // lease has just ended.
  std::optional<std::uint32_t> waiting_place(Key key);

  // constant
  TableId id;
  std::string name;
  const DomainMap& domains;
  Rank self_rank;
  HomeMap home_map;
  UpdateKernel rule;
  LocationCache cache;
  Initialiser initialiser;
  std::uint64_t seed;
  // The number under which every rank exposes the owners that it knows; nothing: nobody looks them up.
  std::optional<std::uint32_t> exposed_owners;
  // own rules
  Store store;
  // guarded by the progress lock
  OwnershipTable ownership;
  ArrivalTable arrivals;
  std::unordered_map<std::uint64_t, std::uint32_t>
      lease_queues;  // by key: leased keys that something waits for
  TableCounters counters;
};

}  // namespace lapse
