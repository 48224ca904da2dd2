#include "lapse/protocol/table_state.hpp"

#include <algorithm>
#include <vector>

namespace lapse {

KeyView TableState::view(Key key) const {
  const std::optional<Store::Known> known = store.is_sparse() ? store.known(key) : std::nullopt;
  const SlotWord word = !store.is_sparse() ? store.word(key) : known ? known->word : SlotWord();
  KeyView view;
  view.self = home_map.self();
  view.home = home_map.home(key);
  view.serves = serves(key);
  switch (word.role()) {
    case Role::owner:
      view.presence = word.leased() || (word.slot().is_private && !view.serves) ? KeyView::Presence::arriving
                                                                                : KeyView::Presence::owner;
      break;
    case Role::arriving:
      view.presence = KeyView::Presence::arriving;
      break;
    default:
      view.presence = KeyView::Presence::absent;
      break;
  }
  if (view.home != view.self) {
    view.hint = cache.look_up(word.hint());
  } else if (!view.serves) {
    // What the home knows, its serving rank knows.
  } else if (!store.is_sparse()) {
    view.owner_by_table = ownership.owner(home_map.home_index(key));
  } else {
    view.owner_by_table = known ? ownership.owner(known->number) : view.self;
    if (view.presence == KeyView::Presence::absent && view.owner_by_table == view.self)
      view.presence = KeyView::Presence::owner;
  }
  return view;
}

std::size_t TableState::owner_bytes() const {
  const std::size_t own = ownership.bytes() + home_map.bytes();
  return members() == 1 ? own : own + home_map.own_keys() * sizeof(OwnershipTable::Entry) / members();
}

std::uint64_t TableState::ownership_index(Key key) {
  return store.is_sparse() ? store.make_number(key) : home_map.home_index(key);
}

bool TableState::is_implicit(Key key) const {
  if (!store.is_sparse()) return false;
  const std::optional<Store::Known> known = store.known(key);
  if (known && known->word.role() != Role::absent) return false;
  return home_map.home(key) == home_map.self() &&
         (!known || ownership.owner(known->number) == home_map.self());
}

void TableState::write_initial(Key key, std::byte* content) const {
  const std::size_t length = store.sizes().length(key);
  initialiser.fill(seed, key, store.sizes().layout().type, length, content);
  rule.initialise(content, length);
}

void TableState::create_implicit(Key key) {
  store.create(key, [&](std::byte* content) { write_initial(key, content); });
}

bool TableState::read_implicit(Key key, std::byte* to) const {
  // A key without a word is nowhere else; once it has one, only the engine knows where it is.
  if (home_map.home(key) != home_map.self() || store.known(key)) return false;
  initialiser.fill(seed, key, store.sizes().layout().type, store.sizes().length(key), to);
  return true;
}

void TableState::remember_location(Key key, Domain responder) {
  if (!cache.enabled()) return;
  const Domain home = home_map.home(key);
  if (!cache.should_remember(responder, home_map.self(), home == home_map.self())) return;
  // A key that is not known here is looked for at home anyway; and the table must have room for more
  // important ones.
  if (store.is_sparse() && (responder == home || !store.has_room_for_hints()) && !store.known(key)) return;
  store.set_hint(key, responder);
}

void TableState::remember_looked_up(Key key, OwnershipTable::Entry entry) {
  // Whatever the bytes are, they must not lead anywhere but to a domain.
  const bool is_domain = entry.owner.value() >= 0 && entry.owner.value() < domains.domains();
  if (is_domain && !store.word(key).hint()) remember_location(key, entry.owner);
}

std::optional<std::uint32_t> TableState::waiting_place(Key key) {
  const SlotWord word = store.word(key);
  if (word.role() == Role::arriving) return word.low();
  if (const auto found = lease_queues.find(key.value()); found != lease_queues.end()) return found->second;
  if (!store.mark_queued(key)) return std::nullopt;
  const std::uint32_t place = arrivals.open({}, ArrivalTable::Clock::now());
  lease_queues.emplace(key.value(), place);
  return place;
}

}  // namespace lapse
