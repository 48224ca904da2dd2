// Everything a domain's serving rank keeps of one table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "lapse/core/counters.hpp"
#include "lapse/core/types.hpp"
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

  TableState(Definition definition, HomeMap homes, RegionAllocator& regions, KeyWords words, ValueSizes sizes,
             std::uint64_t max_units, std::uint64_t expected_units)
      : id(definition.id),
        name(std::move(definition.name)),
        home_map(std::move(homes)),
        rule(std::move(definition.rule)),
        cache(definition.location_caches),
        initialiser(std::move(definition.initialiser)),
        seed(definition.seed),
        store(regions, std::move(words), std::move(sizes), max_units, expected_units),
        ownership(home_map.own_keys(), home_map.self()) {}

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
  // The same for a caller who has found the word, or found that there is none (null).
  bool read_at(const Store::Word* word, Key key, std::byte* to) const {
    if (word != nullptr) [[likely]]
      return store.read_at(*word, to, value_bytes(key));
    return read_implicit(key, to);
  }
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

  // Where operations wait for a key that is arriving or leased; nothing when its lease has just ended.
  std::optional<std::uint32_t> waiting_place(Key key);

  // constant
  TableId id;
  std::string name;
  HomeMap home_map;
  UpdateKernel rule;
  LocationCache cache;
  Initialiser initialiser;
  std::uint64_t seed;
  // own rules
  Store store;
  // guarded by the progress lock
  OwnershipTable ownership;
  ArrivalTable arrivals;
  std::unordered_map<std::uint64_t, std::uint32_t>
      lease_queues;  // by key: leased keys that something waits for
  TableCounters counters;

 private:
  bool read_implicit(Key key, std::byte* to) const;
};

}  // namespace lapse
