// Replication: what it sends before another module promises that all is sent, and the cuts.
#include <algorithm>

#include "lapse/protocol/modules/replication.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

bool Replication::send_owed(Rank to) {
  bool owes = this->owes(to);
  while (owes && !end_leases_by_engine(to)) {
    send_changes(now());
    owes = this->owes(to);
  }
  return !owes;
}

bool Replication::owes(Rank to) const {
  return keys_.refreshes.backlog().has_mains(to) ||
         std::ranges::any_of(registry_.tables(), [&](const auto& table) LAPSE_REQUIRES(progress_role) {
           const TableCopies* const copies = table->copies();
           return copies != nullptr && copies->mains().any_listed([&](const MainCopy& main) {
             return MainRefreshes::is_owed(*table, main, to);
           });
         });
}

bool Replication::end_leases_by_engine(Rank to) {
  const Clock::time_point at = now();
  for (const auto& table : registry_.tables()) {
    if (table->copies() == nullptr) continue;
    const bool has_ended =
        table->copies()->mains().any_listed([&](const MainCopy& main) LAPSE_REQUIRES(progress_role) {
          // Something waits for the key now, so that the lessee leaves the end of its lease to the engine.
          return MainRefreshes::is_owed(*table, main, to) && !table->arrival_record(main.key(), at);
        });
    if (has_ended) return false;
  }
  return true;
}

bool Replication::begin_cut(CutUser user, Clock::time_point now) {
  if (cutting_ || next_cut_.value_or(user) != user) {
    if (!next_cut_) next_cut_ = user;
    return false;
  }
  next_cut_.reset();
  cutting_ = user;
  send_changes(now);
  for (const auto& table : registry_.tables())
    if (table->copies() != nullptr) table->copies()->replicas().cut();
  return true;
}

bool Replication::is_cut_merged() {
  send_unsent_changes();
  return std::ranges::none_of(registry_.tables(), [](const auto& table) LAPSE_REQUIRES(progress_role) {
    return table->copies() != nullptr && table->copies()->replicas().waits_for_cut();
  });
}

}  // namespace lapse
