// Everything a domain's serving rank keeps of one table.
#pragma once

#include <cstdint>
#include <string>

#include "lapse/core/counters.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/home_map.hpp"
#include "lapse/directory/location_cache.hpp"
#include "lapse/directory/ownership_table.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/arrival_table.hpp"
#include "lapse/store/dense_store.hpp"
#include "lapse/store/update_kernel.hpp"

namespace lapse {

// The store follows its own rules (dense_store.hpp); the rest is guarded by the progress lock or constant.
struct TableState {
  TableState(TableId table_id, std::string table_name, HomeMap homes, const ValueLayout& layout,
             UpdateRule update_rule, bool location_caches, RegionAllocator& regions, std::uint64_t table_keys)
      : id(table_id),
        name(std::move(table_name)),
        home_map(std::move(homes)),
        rule(std::move(update_rule), layout.type),
        cache(location_caches),
        store(regions, table_keys, layout, home_map.own_keys()),
        ownership(home_map.own_keys(), home_map.self()) {}

  // What routing needs to know about a key now.
  KeyView view(Key key) const {
    const SlotWord word = store.word(key);
    KeyView view;
    view.self = home_map.self();
    view.home = home_map.home(key);
    switch (word.role()) {
      case Role::owner:
        view.presence = KeyView::Presence::owner;
        break;
      case Role::arriving:
        view.presence = KeyView::Presence::arriving;
        break;
      default:
        view.presence = KeyView::Presence::absent;
        break;
    }
    if (view.at_home()) {
      view.owner_by_table = ownership.owner(home_map.home_index(key));
    } else {
      view.hint = cache.look_up(word.hint());
    }
    return view;
  }

  std::size_t value_bytes() const { return store.value_bytes(); }

  // constant
  TableId id;
  std::string name;
  HomeMap home_map;
  UpdateKernel rule;
  LocationCache cache;
  // own rules
  DenseStore store;
  // guarded by the progress lock
  OwnershipTable ownership;
  ArrivalTable arrivals;
  TableCounters counters;
};

}  // namespace lapse
