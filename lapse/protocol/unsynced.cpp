#include "lapse/protocol/unsynced.hpp"

#include "lapse/protocol/table_copies.hpp"

namespace lapse {

namespace {

using Unanswered = Replica::Unanswered;

// Counts a key in the record, which names the first.
void add(UnsyncedRecord& record, Unsynced what, const TableShard& table, Key key, std::int32_t peer = -1) {
  if (record.count++ > 0) return;
  record = {.what = static_cast<std::uint32_t>(what),
            .table = table.id().value(),
            .key = key.value(),
            .count = 1,
            .peer = peer};
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

UnsyncedRecord unanswered_copies(const TableShard& table, Unanswered which) LAPSE_REQUIRES(progress_role) {
  UnsyncedRecord record;
  const ReplicaTable& replicas = table.copies()->replicas();
  if (replicas.unanswered(which) == 0) return record;
  for (std::uint32_t number = 0; number < replicas.records(); ++number) {
    const Replica& replica = replicas.at(number);
    if (replica.unanswered != which) continue;
    add(record, waiting_for(which), table, replica.key,
        table.serving_rank(replica.key, replica.owner).value());
  }
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

UnsyncedRecord find_unsynced(const Registry& registry) {
  for (const auto& table : registry.tables()) {
    if (table->copies() == nullptr) continue;
    for (const Unanswered which : {Unanswered::on, Unanswered::delta, Unanswered::off, Unanswered::localize})
      if (const UnsyncedRecord found = unanswered_copies(*table, which); found.count > 0) return found;
  }
  for (const auto& table : registry.tables()) {
    if (table->arrivals().in_use() == 0) continue;
    return {.what = static_cast<std::uint32_t>(Unsynced::arrival),
            .table = table->id().value(),
            .count = table->arrivals().in_use()};
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
