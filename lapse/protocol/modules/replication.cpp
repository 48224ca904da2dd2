#include "lapse/protocol/modules/replication.hpp"

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/protocol/records/replication_checks.hpp"
#include "lapse/protocol/records/replication_records.hpp"
#include "lapse/protocol/table/prefetch.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

namespace {
constexpr std::size_t kWantsAhead = 8;  // distance of the prefetches of wants, in keys
}  // namespace

void Replication::set_source(IntentSource* source) {
  progress_role.assert_held();  // No engine runs.
  source_ = source;
  if (source != nullptr && timer_.has_interval()) set_deadline(now());
}

void Replication::set_times(const RoundTimes& times) {
  progress_role.assert_held();  // No engine runs.
  timer_.set_times(times);
  keys_.messages.credits().set_limit(times.credit_bytes);
}

// --- wants

WantedKeys& Replication::others(const TableShard& table) {
  const std::size_t index = table.id().value();
  if (others_.size() <= index) others_.resize(index + 1);
  if (!others_[index]) others_[index] = std::make_unique<WantedKeys>();
  return *others_[index];
}

void Replication::want(TableId table, std::span<const Key> keys) {
  now_ = now();
  change(table, keys, true);
}

void Replication::unwant(TableId table, std::span<const Key> keys) {
  change(table, keys, false);
}

bool Replication::is_wanted(TableId table, Key key) const {
  const TableShard& shard = registry_.table(table.value());
  if (shard.serves(key)) return shard.wanted().count(key) > 0;
  const std::size_t index = table.value();
  return index < others_.size() && others_[index] && others_[index]->count(key) > 0;
}

void Replication::change(TableId id, std::span<const Key> keys, bool on) {
  TableShard& table = registry_.table(id.value());
  if (table.definition().members() == 1) return change_served(table, keys, on);
  served_.clear();
  not_served_.clear();
  for (const Key key : keys) (table.serves(key) ? served_ : not_served_).push_back(key);
  if (!not_served_.empty()) {
    changed_.clear();
    if (on) {
      others(table).want(not_served_, changed_);
    } else {
      others(table).unwant(not_served_, changed_);
    }
    const FrameHeader header =
        copy_header(on ? FrameKind::want : FrameKind::unwant, table, table.self_domain(), sizeof(CopyRecord));
    for (const Key key : changed_)
      outbox_.append_record(table.serving_rank(key), header, CopyRecord{key.value()});
  }
  if (!served_.empty()) change_served(table, served_, on);
}

void Replication::change_served(TableShard& table, std::span<const Key> keys, bool on) {
  changed_.clear();
  if (on) {
    table.wanted().want(keys, changed_);
  } else {
    table.wanted().unwant(keys, changed_);
  }
  if (observer_ != nullptr) [[unlikely]]
    observer_->wanted(table.id(), changed_, on);
  if (changed_.size() > 1 && CopyRuns::suits(table)) {
    if (on) return runs_.want(table, changed_, now_);
    return runs_.unwant(table, changed_, now_);
  }
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    if (i + 2 * kWantsAhead < changed_.size()) table.store().prefetch_far(changed_[i + 2 * kWantsAhead]);
    if (i + kWantsAhead < changed_.size()) table.store().prefetch_word(changed_[i + kWantsAhead]);
    if (on) {
      keys_.holder.want(table, changed_[i], now_);
    } else {
      keys_.holder.unwant(table, changed_[i], now_);
    }
  }
}

void Replication::take_wants(TableShard& table, const FrameHeader& header, const std::byte* records) {
  now_ = now();
  served_.clear();
  for (std::uint32_t i = 0; i < header.count; ++i, records += sizeof(CopyRecord))
    served_.push_back(Registry::served_key(table, read_record<CopyRecord>(records).key));
  const bool on = static_cast<FrameKind>(header.kind) == FrameKind::want;
  if (!on) {
    for (const Key key : served_)
      if (table.wanted().count(key) == 0)
        throw ProtocolError("a rank no longer wants a key that it did not want");
  }
  change_served(table, served_, on);
}

// --- rounds

std::size_t Replication::keys_on_their_way() const {
  std::size_t keys = 0;
  for (const auto& table : registry_.tables()) {
    keys += table->arrivals().in_use();
    if (const TableCopies* const copies = table->copies())
      keys += copies->replicas().unanswered(Replica::Unanswered::on);
  }
  return keys;
}

void Replication::handle_submission(Submission&) {
  const Clock::time_point at = now();
  if (!timer_.is_too_early(at) && !timer_.lasts(at, keys_on_their_way())) round(at, true);
}

void Replication::handle_deadline(Clock::time_point now) {
  if (!timer_.lasts(now, keys_on_their_way())) return round(now, true);
  set_deadline(timer_.next_attempt(now));
}

void Replication::round(Clock::time_point now, bool pauses) {
  if (failure_.raised()) return set_deadline(std::nullopt);
  const TimedRegion region("lapse round");
  now_ = now;
  timer_.begin(now);
  ++counters_.rounds;
  samples_.take_reads();
  if (source_ != nullptr) source_->begin_round(*this);
  // To read the processor's time is a call of the system: only for something to send.
  if ((!pauses || timer_.effort().is_due(now)) && may_have_changes())
    timer_.effort().run(now, [&] {
      progress_role.assert_held();  // Called in place.
      send_changes(now, !pauses);
      if (observer_ != nullptr) [[unlikely]]
        observer_->changes_sent();
    });
  timer_.sent(keys_on_their_way());
  samples_.count_copies(now);
  if (observer_ != nullptr) [[unlikely]]
    observer_->round_ended();
  set_deadline(source_ != nullptr || has_copies() ? timer_.next(now) : std::nullopt);
}

void Replication::send_changes(Clock::time_point now, bool all) {
  now_ = now;
  keys_.refreshes.send_backlog(now);
  for (const auto& table : registry_.tables()) {
    const bool is_due = all || !table->definition().sends_at_clocks;
    if (is_due && table->copies() != nullptr) send_changes(*table);
  }
}

void Replication::send_unsent_changes() {
  for (const auto& table : registry_.tables()) {
    if (table->copies() != nullptr) send_unsent_changes(*table);
  }
}

void Replication::send_unsent_changes(TableShard& table) {
  TableCopies& copies = *table.copies();
  marked_.clear();
  marked_.swap(copies.marked());
  for (const std::uint32_t number : marked_) {
    if (copies.replicas().at(number).marked && !keys_.deltas.send_marked(table, number))
      copies.marked().push_back(number);
  }
}

void Replication::send_changes(TableShard& table) {
  TableCopies& copies = *table.copies();
  send_unsent_changes(table);
  copies.keys().take_marks([&](Slot slot) {
    progress_role.assert_held();  // Called in place.
    if (const auto main = copies.main_in(slot)) {
      copies.mains().at(*main).mark_all();
      copies.mains().list(*main);
    } else if (const auto replica = copies.replica_in(slot)) {
      const bool is_listed = copies.replicas().at(*replica).marked;
      if (!keys_.deltas.send_marked(table, *replica) && !is_listed) copies.marked().push_back(*replica);
    }
  });
  copies.mains().take_listed([&](std::uint32_t number) {
    progress_role.assert_held();  // Called in place.
    keys_.refreshes.send_refreshes(table, number);
  });
}

bool Replication::may_have_changes() const {
  return !keys_.refreshes.backlog().empty() ||
         std::ranges::any_of(registry_.tables(), [](const auto& table) LAPSE_REQUIRES(progress_role) {
           const TableCopies* const copies = table->copies();
           return copies != nullptr && (!copies->marked().empty() || !copies->mains().is_list_empty() ||
                                        copies->keys().any_marked());
         });
}

bool Replication::has_copies() const {
  return std::ranges::any_of(registry_.tables(), [](const auto& table) LAPSE_REQUIRES(progress_role) {
    const TableCopies* const copies = table->copies();
    return copies != nullptr && (copies->replicas().in_use() > 0 || copies->mains().in_use() > 0);
  });
}

void Replication::end_turn() {
  // A frame may have brought the first replica.
  if (timer_.has_interval() && !next_deadline() && !failure_.raised() && has_copies())
    set_deadline(timer_.next(now()));
  if (has_new_credit_) {
    has_new_credit_ = false;
    const Clock::time_point at = now();
    timer_.effort().run(at, [this, at] {
      progress_role.assert_held();  // Called in place.
      keys_.refreshes.send_backlog(at);
      if (keys_.deltas.take_waits_for_credit()) send_unsent_changes();
    });
  }
  keys_.messages.credits().take_due([this](Rank to, std::uint64_t bytes) {
    progress_role.assert_held();  // Called in place.
    outbox_.append_record(to, FrameHeader::of(FrameKind::credit), CreditRecord{bytes});
  });
}

bool Replication::idle(IdleLevel level) const {
  if (level == IdleLevel::answered) return true;
  if (has_pending_wants() || !keys_.refreshes.backlog().empty() || keys_.messages.credits().has_due())
    return false;
  return std::ranges::all_of(registry_.tables(), [](const auto& table) LAPSE_REQUIRES(progress_role) {
    const TableCopies* const copies = table->copies();
    return copies == nullptr || (copies->replicas().unanswered() == 0 && !copies->any_marked() &&
                                 !copies->mains().any_listed() && !copies->keys().any_marked());
  });
}

void Replication::hasten(IdleLevel level) {
  if (level != IdleLevel::synced) return;
  keys_.messages.credits().set_all_awaited(true);
  round(now());
  keys_.messages.credits().set_all_awaited(false);
}

// --- frames

void Replication::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  const auto kind = static_cast<FrameKind>(header.kind);
  if (kind == FrameKind::credit) return take_credit(from, header, records);
  TableShard& table = registry_.table(header.table);
  check_copy_frame(table, header);
  if (kind == FrameKind::want || kind == FrameKind::unwant) return take_wants(table, header, records);
  now_ = now();
  // Before the replicas are refreshed.
  if (kind == FrameKind::refresh) samples_.take_reads();
  if (header.count > 1 && CopyRuns::suits(table)) {
    const bool to_members = (header.flags & FrameHeader::kToMember) != 0;
    if (kind == FrameKind::on) {
      runs_.take_ons(table, header, records, now_);
      return request_end_turn();
    }
    if (kind == FrameKind::offer && !to_members) {
      runs_.take_offers(table, header, records, now_);
      return request_end_turn();
    }
  }
  const bool asks_wants = kind == FrameKind::on || kind == FrameKind::offer || kind == FrameKind::snapshot;
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    prefetch_ahead(table, header, records, i);
    if (asks_wants && i + kWantsAhead < header.count) {
      const Key key(read_record<std::uint64_t>(records + kWantsAhead * header.record_bytes));
      table.wanted().prefetch(key);
      if (kind == FrameKind::on && table.store().has(key)) table.prefetch_owner(key);
    }
    take_record(table, header, records);
  }
  if (kind == FrameKind::refresh) keys_.refreshes.parts().add_received(from, header.operation, header.count);
  if (kind == FrameKind::refresh || kind == FrameKind::delta)
    keys_.messages.credits().add_received(from, std::size_t{header.count} * header.record_bytes);
  request_end_turn();
}

void Replication::take_credit(Rank from, const FrameHeader& header, const std::byte* records) {
  keys_.messages.credits().acknowledge(from, read_credit(header, records));
  has_new_credit_ = true;
  request_end_turn();
}

void Replication::take_record(TableShard& table, const FrameHeader& header, const std::byte* record) {
  const Key key = Registry::served_key(table, read_record<std::uint64_t>(record));
  const Domain domain(header.domain);
  const auto kind = static_cast<FrameKind>(header.kind);
  switch (kind) {
    case FrameKind::offer:
      return keys_.holder.take_offer(table, key, (header.flags & FrameHeader::kToMember) != 0, domain, now_);
    case FrameKind::refuse_copy:
      return keys_.holder.take_refusal(table, key, now_);
    case FrameKind::acknowledge:
      return keys_.holder.take_acknowledgement(table, key, domain, now_);
    case FrameKind::snapshot:
    case FrameKind::refresh: {
      check_record_bytes(header, sizeof(VersionRecord) + table.content_bytes(key));
      const auto head = read_record<VersionRecord>(record);
      const std::byte* const content = record + sizeof head;
      if (kind == FrameKind::snapshot) return keys_.holder.take_snapshot(table, head, content, domain, now_);
      return keys_.holder.take_refresh(table, head, content, domain, now_);
    }
    default:
      break;
  }
  const KeyQueue::CopyMessage message = read_copy_message(table, key, header, record);
  keys_.owner.take(table, key, message, (header.flags & FrameHeader::kByHome) != 0, now_);
}

}  // namespace lapse
