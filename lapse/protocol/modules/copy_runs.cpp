#include "lapse/protocol/modules/copy_runs.hpp"

#include <algorithm>
#include <optional>

#include "lapse/protocol/table/table_copies.hpp"
#include "lapse/store/key_run.hpp"

namespace lapse {

CopyRuns::CopyRuns(const Registry& registry, Outbox& outbox, KeyReplication& keys, Relocation& relocation)
    : outbox_(outbox),
      keys_(keys),
      relocation_(relocation),
      records_(registry.ranks()),
      by_home_(registry.ranks()),
      requests_(registry.ranks()),
      part_(kKeysAtOnce),
      homes_(kKeysAtOnce) {}

bool CopyRuns::suits(const TableShard& table) {
  return table.copies() != nullptr && KeyRun::suits(table.store());
}

template <class F>
void CopyRuns::for_each_part(TableShard& table, const FrameHeader& header, const std::byte* records, F&& f) {
  for (std::uint32_t done = 0; done < header.count;) {
    const std::size_t count = std::min<std::size_t>(header.count - done, kKeysAtOnce);
    for (std::size_t i = 0; i < count; ++i) {
      const auto record = read_record<CopyRecord>(records + (done + i) * sizeof(CopyRecord));
      part_[i] = Registry::served_key(table, record.key);
      table.store().prefetch_word(part_[i]);
      table.wanted().prefetch(part_[i]);
    }
    f(std::span<const Key>(part_.data(), count));
    done += static_cast<std::uint32_t>(count);
  }
}

// --- requester

bool CopyRuns::has_room(TableShard& table, std::uint32_t keys) {
  if (!table.has_room_for_wanted() || !table.store().try_prepare_arrivals(keys)) return false;
  table.store().cancel_arrivals(keys);
  return true;
}

void CopyRuns::want(TableShard& table, std::span<const Key> keys, Clock::time_point now) {
  while (!keys.empty()) {
    const std::span part = keys.first(std::min(kKeysAtOnce, keys.size()));
    keys = keys.subspan(part.size());
    for (const Key key : part) table.store().prefetch_word(key);
    if (!has_room(table, static_cast<std::uint32_t>(part.size()))) {
      for (const Key key : part) keys_.holder.want(table, key, now);
      continue;
    }
    std::size_t plain = 0;
    std::size_t localized = 0;
    for (const Key key : part) {
      if (acquisition(table.store().word(key).role()) != Acquisition::begin) continue;
      switch (keys_.wants.step_of(table, key)) {
        case ManagementPolicy::Wanted::nothing:
          break;
        case ManagementPolicy::Wanted::announce:
          part_[plain++] = key;
          break;
        case ManagementPolicy::Wanted::localize:
          // Filled from the end.
          part_[kKeysAtOnce - ++localized] = key;
          break;
      }
    }
    // There is memory for all of them, so none is refused.
    if (localized > 0) {
      static_cast<void>(relocation_.localize(
          table, std::span<const Key>(part_).subspan(kKeysAtOnce - localized), Waiter(), now));
    }
    announce(table, std::span<const Key>(part_).first(plain), now);
  }
}

void CopyRuns::unwant(TableShard& table, std::span<const Key> keys, Clock::time_point now) {
  const KeyRun run(table.store(), table.definition().members() == 1);
  while (!keys.empty()) {
    const std::span part = keys.first(std::min(kKeysAtOnce, keys.size()));
    keys = keys.subspan(part.size());
    for (const Key key : part) table.store().prefetch_word(key);
    for (const Key key : part) run.prefetch_head(key);
    for (const Key key : part) keys_.holder.unwant(table, key, now);
  }
}

void CopyRuns::announce(TableShard& table, std::span<const Key> keys, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  KeyRun run(table.store(), table.definition().members() == 1);
  const Domain self = table.self_domain();
  const LocationCache& cache = table.definition().cache;
  records_.clear();
  by_home_.clear();
  table.definition().homes.homes(keys, homes_.data());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (homes_[i] == self) table.prefetch_owner(keys[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i];
    if (copies.is_refused(key)) continue;
    Replica replica{.key = key, .owner = {}, .refreshed = now, .unanswered = Replica::Unanswered::on};
    const bool by_home = homes_[i] == self;
    replica.owner =
        by_home ? table.owner_by_table(key) : cache.look_up(run.word(key).hint()).value_or(homes_[i]);
    const std::optional<std::uint32_t> number = copies.try_open(replica);
    if (!number) {
      KeyWants::decline(table, key);
      continue;
    }
    run.announce(key, *number);
    (by_home ? by_home_ : records_).add(table.serving_rank(key, replica.owner), {key.value()});
  }
  records_.append_to(outbox_, copy_header(FrameKind::on, table, self, sizeof(CopyRecord)));
  by_home_.append_to(outbox_, copy_header(FrameKind::on, table, self, sizeof(CopyRecord), true));
}

// --- owner

void CopyRuns::take_ons(TableShard& table, const FrameHeader& header, const std::byte* records,
                        Clock::time_point now) {
  const Domain from(header.domain);
  const bool by_home = (header.flags & FrameHeader::kByHome) != 0;
  const FrameHeader answer = copy_header(FrameKind::offer, table, table.self_domain(), sizeof(CopyRecord));
  for_each_part(table, header, records, [&](std::span<const Key> keys) {
    progress_role.assert_held();  // Called in place.
    const KeyRun run(table.store(), table.definition().members() == 1);
    records_.clear();
    for (const Key key : keys) run.prefetch_head(key);
    for (const Key key : keys) {
      const SlotWord word = run.word(key);
      const bool offers = word.is_open_owner() && !word.is_replicated() && !KeyWants::wants(table, key) &&
                          keys_.wants.offers(table, key);
      if (offers && run.offer(key, TableCopies::record_of_only(from))) {
        records_.add(table.serving_rank(key, from), {key.value()});
      } else {
        keys_.owner.take(table, key, {.kind = FrameKind::on, .from = from}, by_home, now);
      }
    }
    records_.append_to(outbox_, answer);
  });
}

// --- requester

void CopyRuns::take_offers(TableShard& table, const FrameHeader& header, const std::byte* records,
                           Clock::time_point now) {
  TableCopies& copies = *table.copies();
  ArrivalTable& arrivals = table.arrivals();
  const Domain self = table.self_domain();
  for_each_part(table, header, records, [&](std::span<const Key> keys) {
    progress_role.assert_held();  // Called in place.
    KeyRun run(table.store(), table.definition().members() == 1);
    requests_.begin();
    table.definition().homes.homes(keys, homes_.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (homes_[i] == self) table.prefetch_owner(keys[i]);
      const SlotWord word = run.word(keys[i]);
      if (low_half(word.role()) == LowHalf::record) copies.replicas().prefetch(word.low());
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Key key = keys[i];
      const SlotWord word = run.word(key);
      Replica* const replica = word.role() == Role::awaiting ? &copies.replicas().at(word.low()) : nullptr;
      const bool plain = replica != nullptr && replica->arrival == Replica::kNone &&
                         replica->slot == Replica::kNone && !replica->wanted && KeyWants::wants(table, key);
      if (!plain) {
        keys_.holder.take_offer(table, key, false, Domain(header.domain), now);
        continue;
      }
      copies.keep_slot_only();
      copies.replicas().close(word.low());
      run.localize_awaited(key, arrivals.open(Waiter(), now));
      requests_.request(table, key, homes_[i]);
    }
    requests_.send(outbox_, table, self);
  });
}

}  // namespace lapse
