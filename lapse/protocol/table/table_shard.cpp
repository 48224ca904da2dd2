#include "lapse/protocol/table/table_shard.hpp"

#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/user_code.hpp"
#include "lapse/protocol/table/element_payload.hpp"
#include "lapse/protocol/table/registered_function.hpp"

namespace lapse {

// --- values

bool TableShard::read_uninitialized(Key key, std::byte* to) const {
  // A key without a slot word is not remote. If a key has a slot word, only the engine knows the owner.
  if (definition_.homes.home(key) != self_domain() || store_.known(key)) return false;
  definition_.initialiser.fill(definition_.seed, key, sizes().layout().type, sizes().length(key), to);
  return true;
}

void TableShard::apply(const ValueOperation& operation, Key key, std::byte* content,
                       const std::byte* argument, std::byte* result) const {
  switch (operation.kind) {
    case OperationKind::pull:
      std::memcpy(result, content, value_bytes(key));
      return;
    case OperationKind::push:
      definition_.rule.apply(content, argument, sizes().length(key), operation.scale);
      return;
    case OperationKind::set:
      // The optimizer state is reset.
      std::memcpy(content, argument, value_bytes(key));
      definition_.rule.initialise(content, sizes().length(key));
      return;
    case OperationKind::pull_elements:
      RowElements::gather(content, element_bytes(sizes().layout().type), ElementPayload::run(argument),
                          result);
      return;
    case OperationKind::push_elements: {
      const ElementRun run = ElementPayload::run(argument);
      definition_.rule.apply_elements(content, sizes().length(key), run.indices,
                                      ElementPayload::updates(argument, element_bytes(sizes().layout().type)),
                                      run.count, operation.scale);
      return;
    }
    case OperationKind::call:
      operation.function->run(key, content, sizes().length(key), argument, result);
      return;
    case OperationKind::localize:
      break;
  }
  throw ProtocolError("localize does nothing to a value");
}

void TableShard::push_to_copy(const ValueOperation& push, Key key, std::byte* content,
                              const std::byte* argument) const {
  if (push.kind == OperationKind::push)
    return copies_->merger().push(content, argument, sizes().length(key), push.scale);
  push_elements_to_copy(key, content, ElementPayload::run(argument),
                        ElementPayload::updates(argument, element_bytes(sizes().layout().type)), push.scale);
}

// --- keys

KeyView TableShard::view(Key key) const {
  const std::optional<Store::Known> known = store_.is_sparse() ? store_.known(key) : std::nullopt;
  const SlotWord word = !store_.is_sparse() ? store_.word(key) : known ? known->word : SlotWord();
  KeyView view;
  view.self = self_domain();
  view.home = definition_.homes.home(key);
  view.serves = serves(key);
  view.direct = word.direct_access();
  view.handling = word.handling();
  // Only the serving rank can address a private slot.
  if (view.direct != DirectAccess::nothing && word.slot().is_private && !view.serves)
    view.direct = DirectAccess::nothing;
  if (view.home != view.self) {
    view.hint = definition_.cache.look_up(word.hint());
  } else if (!view.serves) {
    // Only the home's serving rank stores the owner.
  } else if (!store_.is_sparse()) {
    view.owner_by_table = ownership_.owner(definition_.homes.home_index(key));
  } else {
    view.owner_by_table = known ? ownership_.owner(known->number) : view.self;
    // An uninitialized key.
    if (view.handling == Handling::forward && view.owner_by_table == view.self)
      view.handling = Handling::execute;
  }
  return view;
}

bool TableShard::is_uninitialized(Key key) const {
  if (!store_.is_sparse()) return false;
  const std::optional<Store::Known> known = store_.known(key);
  if (known && known->word.handling() != Handling::forward) return false;
  return definition_.homes.home(key) == self_domain() &&
         (!known || ownership_.owner(known->number) == self_domain());
}

void TableShard::write_initial(Key key, std::byte* content) const {
  const std::size_t length = sizes().length(key);
  definition_.initialiser.fill(definition_.seed, key, sizes().layout().type, length, content);
  definition_.rule.initialise(content, length);
}

void TableShard::create(Key key) {
  store_.create(key, [&](std::byte* content) { write_initial(key, content); });
}

void TableShard::create_own_keys() {
  definition_.homes.for_each_own_key([&](Key key) {
    progress_role.assert_held();  // Called in place.
    if (!serves(key)) return;
    store_.create(key, [&](std::byte* content) {
      run_user_code(name(), key, definition_.rank, [&] { write_initial(key, content); });
    });
  });
}

// --- owners

void TableShard::remember_location(Key key, Domain responder) {
  if (!definition_.cache.enabled()) return;
  const Domain home = definition_.homes.home(key);
  if (!definition_.cache.should_remember(responder, self_domain(), home == self_domain())) return;
  // An access to a key without a slot word goes to its home anyway; and hints must leave space in the table
  // for keys.
  if (store_.is_sparse() && (responder == home || !store_.has_room_for_hints()) && !store_.known(key)) return;
  store_.set_hint(key, responder);
}

void TableShard::remember_lookup(Key key, OwnershipTable::Entry entry) {
  // The bytes were read without a lock: accept only the number of a domain.
  const bool is_domain = entry.owner.value() >= 0 && entry.owner.value() < definition_.domains.domains();
  if (is_domain && !store_.word(key).hint()) remember_location(key, entry.owner);
}

// --- waiting operations and messages

std::optional<std::uint32_t> TableShard::arrival_record(Key key, ArrivalTable::Clock::time_point now) {
  const SlotWord word = store_.word(key);
  if (low_half(word.role()) == LowHalf::arrival) return word.low();
  if (low_half(word.role()) == LowHalf::record || word.is_copy()) {
    Replica& replica = copies_->replica(key);
    if (replica.arrival == Replica::kNone) replica.arrival = arrivals_.open({}, now);
    return replica.arrival;
  }
  if (const auto record = arrivals_.find_leased(key)) return record;
  if (!store_.mark_queued(key)) return std::nullopt;
  const std::uint32_t record = arrivals_.open({}, now);
  arrivals_.keep_for_lease(record, key);
  return record;
}

std::size_t TableShard::owner_bytes() const {
  const std::size_t own = ownership_.bytes() + definition_.homes.bytes();
  return definition_.members() == 1
             ? own
             : own + definition_.homes.own_keys() * sizeof(OwnershipTable::Entry) / definition_.members();
}

}  // namespace lapse
