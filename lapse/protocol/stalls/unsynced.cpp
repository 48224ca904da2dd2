#include "lapse/protocol/stalls/unsynced.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

namespace {

using Unanswered = Replica::Unanswered;

// Counts a key in the record. The first key is stored in it.
void add(UnsyncedRecord& record, Unsynced what, const TableShard& table, Key key, std::int32_t peer = -1,
         std::uint32_t milliseconds = 0) {
  if (record.count++ > 0) return;
  record = {.what = static_cast<std::uint32_t>(what),
            .table = table.id().value(),
            .key = key.value(),
            .count = 1,
            .peer = peer,
            .milliseconds = milliseconds};
}

Unsynced waiting_for(Unanswered unanswered) {
  switch (unanswered) {
    case Unanswered::on:
      return Unsynced::announcement;
    case Unanswered::delta:
      return Unsynced::change;
    case Unanswered::off:
      return Unsynced::end;
    case Unanswered::localize:
      return Unsynced::upgrade;
    case Unanswered::nothing:
      break;
  }
  return Unsynced::nothing;
}

UnsyncedRecord unanswered_copies(const TableShard& table, Unanswered which, Replica::Clock::time_point now)
    LAPSE_REQUIRES(progress_role) {
  UnsyncedRecord record;
  const ReplicaTable& replicas = table.copies()->replicas();
  if (replicas.unanswered(which) == 0) return record;
  for (std::uint32_t number = 0; number < replicas.records(); ++number) {
    const Replica& replica = replicas.at(number);
    if (replica.unanswered != which) continue;
    add(record, waiting_for(which), table, replica.key,
        table.serving_rank(replica.key, replica.owner).value(), milliseconds_between(replica.refreshed, now));
  }
  return record;
}

// Scans the slot words of all keys.
UnsyncedRecord arriving_keys(const TableShard& table, Replica::Clock::time_point now)
    LAPSE_REQUIRES(progress_role) {
  UnsyncedRecord record;
  const ArrivalTable& arrivals = table.arrivals();
  if (arrivals.in_use() == 0) return record;
  table.store().words().for_each([&](Key key, const KeyWords::Word& stored) {
    progress_role.assert_held();  // Called in place.
    if (!table.serves(key)) return;
    const SlotWord word(stored.load(std::memory_order_acquire));
    const std::optional<std::uint32_t> number = low_half(word.role()) == LowHalf::arrival
                                                    ? std::optional(word.low())
                                                : word.leased() ? arrivals.find_leased(key)
                                                                : std::nullopt;
    if (!number) return;
    const Rank home = table.serving_rank(key, table.definition().homes.home(key));
    add(record, Unsynced::arrival, table, key, home.value(),
        milliseconds_between(arrivals.asked(*number), now));
  });
  return record;
}

UnsyncedRecord changed_copies(TableShard& table) LAPSE_REQUIRES(progress_role) {
  UnsyncedRecord record;
  const ReplicaTable& replicas = table.copies()->replicas();
  for (std::uint32_t number = 0; number < replicas.records(); ++number) {
    if (replicas.at(number).marked) add(record, Unsynced::unsent_change, table, replicas.at(number).key);
  }
  return record;
}

UnsyncedRecord changed_mains(TableShard& table, bool leased) LAPSE_REQUIRES(progress_role) {
  UnsyncedRecord record;
  static_cast<void>(table.copies()->mains().any_listed([&](const MainCopy& main) {
    const bool is_leased = table.store().word(main.key()).leased();
    if (is_leased == leased)
      add(record, leased ? Unsynced::leased_main : Unsynced::refresh, table, main.key());
    return false;
  }));
  return record;
}

}  // namespace

std::uint32_t milliseconds_between(Replica::Clock::time_point since, Replica::Clock::time_point now) {
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - since).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(waited, 0, UINT32_MAX));
}

UnsyncedRecord find_unsynced(const Registry& registry, Replica::Clock::time_point now) {
  for (const auto& table : registry.tables()) {
    if (table->copies() == nullptr) continue;
    for (const Unanswered which : {Unanswered::on, Unanswered::delta, Unanswered::off, Unanswered::localize})
      if (const UnsyncedRecord found = unanswered_copies(*table, which, now); found.count > 0) return found;
  }
  for (const auto& table : registry.tables()) {
    if (const UnsyncedRecord found = arriving_keys(*table, now); found.count > 0) return found;
  }
  for (const auto& table : registry.tables()) {
    if (table->copies() == nullptr) continue;
    for (const UnsyncedRecord& found :
         {changed_mains(*table, true), changed_copies(*table), changed_mains(*table, false)})
      if (found.count > 0) return found;
  }
  return {};
}

}  // namespace lapse
