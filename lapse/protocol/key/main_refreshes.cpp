#include "lapse/protocol/key/main_refreshes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lapse/protocol/records/replication_records.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

bool MainRefreshes::send_refresh(TableShard& table, const MainCopy& main, Member& to, std::byte* content,
                                 bool later) {
  TableCopies& copies = *table.copies();
  const Key key = main.key();
  const std::size_t bytes = sizeof(VersionRecord) + table.content_bytes(key);
  const Rank rank = table.serving_rank(key, to.domain);
  RefreshBacklog::Parked parked{copy_header(FrameKind::refresh, table, table.self_domain(), bytes), {}};
  parked.header.operation = parts_.open_part(rank);
  if (later) parked.record.resize(bytes);
  std::byte* const record = later ? parked.record.data() : messages_.outbox().append(rank, parked.header);
  const auto fill = [&](const std::byte* value) {
    const VersionRecord head{key.value(), VersionRecord::pack(SlotHead::version_of(value), to.bit)};
    std::memcpy(write_record(record, head), value, bytes - sizeof head);
  };
  if (content != nullptr) {
    fill(content);
  } else if (!copies.keys().inspect(key, fill)) {
    if (!later) messages_.outbox().cancel();
    return false;
  }
  if (!later) {
    messages_.credits().add_sent(rank, bytes);
    parts_.add_sent(rank);
  } else if (backlog_.park(rank, key, std::move(parked))) {
    parts_.add_sent(rank);
  } else {
    --table.counters().refreshes_out;  // The earlier one is not sent.
  }
  to.dirty = false;
  ++table.counters().refreshes_out;
  return true;
}

void MainRefreshes::send_refreshes(TableShard& table, std::uint32_t number) {
  TableCopies& copies = *table.copies();
  MainCopy& main = copies.mains().at(number);
  for (Member& to : main.members()) {
    // A lease may take long; its end lists the key again.
    if (to.dirty && !refresh_in_turn(table, number, to, nullptr)) return copies.mains().list(number);
  }
}

bool MainRefreshes::refresh_in_turn(TableShard& table, std::uint32_t number, Member& to, std::byte* content) {
  const MainCopy& main = table.copies()->mains().at(number);
  const Rank rank = table.serving_rank(main.key(), to.domain);
  if (messages_.credits().has(rank) && !backlog_.has_mains(rank))
    return send_refresh(table, main, to, content);
  backlog_.add(rank, table.id(), number);
  return true;
}

bool MainRefreshes::send_last_refreshes(TableShard& table, std::uint32_t number, Domain next,
                                        std::byte* content) {
  MainCopy& main = table.copies()->mains().at(number);
  for (Member& to : main.members()) {
    if (!to.dirty || to.domain == next) continue;
    const bool later = !messages_.credits().has(table.serving_rank(main.key(), to.domain));
    if (!send_refresh(table, main, to, content, later)) {
      table.copies()->mains().list(number);
      return false;
    }
  }
  return true;
}

void MainRefreshes::refresh_after_lease(TableShard& table, std::uint32_t number, Clock::time_point now) {
  MainCopies& mains = table.copies()->mains();
  mains.list(number);
  // If the lease has ended in memory meanwhile, there is nothing to wait for.
  if (!table.arrival_record(mains.at(number).key(), now)) send_refreshes(table, number);
}

void MainRefreshes::lease_over(TableShard& table, Key key) {
  TableCopies& copies = *table.copies();
  if (const auto number = copies.main_number(key, copies.keys().content(key))) send_refreshes(table, *number);
}

bool MainRefreshes::is_owed(const TableShard& table, const MainCopy& main, Rank to) {
  return std::ranges::any_of(main.members(), [&](const Member& member) {
    return member.dirty && table.serving_rank(main.key(), member.domain) == to;
  });
}

void MainRefreshes::send_backlog(Clock::time_point now) {
  if (backlog_.empty()) return;
  for (std::int32_t index = 0; index < registry_.ranks(); ++index) {
    const Rank rank(index);
    while (backlog_.has_parked(rank) && messages_.credits().has(rank)) {
      const RefreshBacklog::Parked parked = backlog_.take_parked(rank);
      std::memcpy(messages_.outbox().append(rank, parked.header), parked.record.data(), parked.record.size());
      messages_.credits().add_sent(rank, parked.record.size());
    }
    while (messages_.credits().has(rank)) {
      const std::optional<RefreshBacklog::Main> next = backlog_.take(rank);
      if (!next) break;
      TableShard& table = registry_.table(next->table.value());
      MainCopies& mains = table.copies()->mains();
      MainCopy& main = mains.at(next->number);
      for (Member& to : main.members()) {
        if (to.dirty && table.serving_rank(main.key(), to.domain) == rank &&
            !send_refresh(table, main, to, nullptr))
          refresh_after_lease(table, next->number, now);
      }
    }
  }
}

void MainRefreshes::close_record(TableShard& table, std::uint32_t number) {
  // The number may be reused: a backlog that keeps it would check another main copy, in vain.
  backlog_.remove(table.id(), number);
  table.copies()->mains().close(number);
}

}  // namespace lapse
