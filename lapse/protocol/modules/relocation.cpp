#include "lapse/protocol/modules/relocation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/protocol/records/key_failure_records.hpp"
#include "lapse/protocol/records/transfer_checks.hpp"
#include "lapse/protocol/table/arrival_counts.hpp"
#include "lapse/protocol/table/prefetch.hpp"
#include "lapse/store/key_run.hpp"

namespace lapse {

namespace {

// Space for records at the end of a packet. The destructor cancels those that were not filled.
class RecordRoom {
 public:
  RecordRoom(Outbox& outbox, Rank to, const FrameHeader& header, std::size_t count)
      LAPSE_REQUIRES(progress_role)
      : outbox_(outbox),
        run_(outbox.append_run(to, header, static_cast<std::uint32_t>(count))),
        record_bytes_(header.record_bytes) {}
  RecordRoom(const RecordRoom&) = delete;
  RecordRoom& operator=(const RecordRoom&) = delete;
  ~RecordRoom() {
    progress_role.assert_held();  // By the function that has this variable.
    if (filled_ < run_.count) outbox_.cancel(run_.count - filled_);
  }

  bool full() const { return filled_ == run_.count; }
  std::uint32_t filled() const { return filled_; }
  std::byte* next() const { return run_.records + std::size_t{filled_} * record_bytes_; }
  void fill() { ++filled_; }

 private:
  Outbox& outbox_;
  Outbox::Run run_;
  std::uint32_t record_bytes_;
  std::uint32_t filled_ = 0;
};

// Counts arrivals with the same single waiter, and notifies it of all of them together.
class Notification {
 public:
  explicit Notification(LocalizeAnswers& answers) : answers_(answers) {}
  void add(Waiter waiter) LAPSE_REQUIRES(progress_role) {
    if (!(waiter == waiter_)) send();
    waiter_ = waiter;
    ++keys_;
  }
  void send() LAPSE_REQUIRES(progress_role) {
    if (keys_ > 0) answers_.notify(waiter_, keys_);
    keys_ = 0;
  }

 private:
  LocalizeAnswers& answers_;
  Waiter waiter_;
  std::uint32_t keys_ = 0;
};

void check_home(const TableShard& table, Key key) {
  if (table.definition().homes.home(key) == table.self_domain()) return;
  throw ProtocolError(fmt::format("domain {} is asked for key {} of table '{}' and is not its home",
                                  table.self_domain().value(), key.value(), table.name()));
}

}  // namespace

bool Relocation::idle(IdleLevel) const {
  return std::ranges::all_of(registry_.tables(), [](const auto& table) LAPSE_REQUIRES(progress_role) {
    return table->arrivals().in_use() == 0;
  });
}

// --- requester

std::uint32_t Relocation::localize(TableShard& table, std::span<const Key> keys, Waiter waiter,
                                   Clock::time_point now) {
  const auto count = static_cast<std::uint32_t>(keys.size());
  std::uint32_t here = 0;
  const auto one_by_one = [&]() LAPSE_REQUIRES(progress_role) {
    for (const Key key : keys) here += keys_.localize(table, key, waiter, now) ? 1 : 0;
    return here;
  };
  if (count == 1 || !KeyRun::suits(table.store())) return one_by_one();
  KeyRun run(table.store(), table.definition().members() == 1);
  const Domain self = table.self_domain();
  requests_.begin();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    run.prefetch_word(keys[i]);
    homes_[i] = table.definition().homes.home(keys[i]);
    if (homes_[i] == self) table.prefetch_owner(keys[i]);
  }
  // The keys that need a slot; a key that is named twice counts twice.
  std::uint32_t absent = 0;
  for (const Key key : keys) absent += acquisition(run.word(key).role()) == Acquisition::begin ? 1 : 0;
  if (!table.store().try_prepare_arrivals(absent)) return one_by_one();
  ArrivalTable& arrivals = table.arrivals();
  std::uint32_t begun = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i];
    const SlotWord word = run.word(key);
    const Acquisition step = acquisition(word.role());
    if (step == Acquisition::here) {
      ++here;
      continue;
    }
    if (step != Acquisition::begin) {
      here += keys_.localize(table, key, waiter, now) ? 1 : 0;
      continue;
    }
    ++begun;
    run.begin_arrival(key, arrivals.open(waiter, now));
    requests_.request(table, key, homes_[i]);
  }
  table.store().cancel_arrivals(absent - begun);
  requests_.send(outbox_, table, self);
  return here;
}

// --- home

void Relocation::take_localizes(TableShard& table, const Records& records, std::span<const Key> keys) {
  const Domain requester(records.header.domain);
  const Domain self = table.self_domain();
  requests_.begin();
  const bool may_stay = table.copies() != nullptr && table.wanted().size() > 0;
  for (const Key key : keys) {
    check_home(table, key);
    table.prefetch_owner(key);
    if (may_stay) table.wanted().prefetch(key);
  }
  std::size_t left = 0;
  const KeyRun run(table.store(), table.definition().members() == 1);
  for (const Key key : keys) {
    const OwnershipTable::Change change = table.relocate(key, requester);
    check_requester(table, key, requester, change.old_owner);
    if (change.old_owner == self) {
      run.prefetch_value(key);
      leaving_[left++] = {key, change.relocations};
    } else {
      requests_.instruct(table, key, change);
    }
  }
  requests_.send(outbox_, table, requester);
  transfer(table, std::span(leaving_.data(), left), requester, records.now);
}

// --- old owner

void Relocation::take_instructs(TableShard& table, const Records& records, std::span<const Key> keys) {
  const KeyRun run(table.store(), table.definition().members() == 1);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto record = read_record<InstructRecord>(records.first + i * sizeof(InstructRecord));
    run.prefetch_value(keys[i]);
    if (table.copies() != nullptr) table.wanted().prefetch(keys[i]);
    leaving_[i] = {keys[i], record.relocations};
  }
  transfer(table, std::span(leaving_.data(), keys.size()), Domain(records.header.domain), records.now);
}

void Relocation::transfer(TableShard& table, std::span<const Leaving> leaving, Domain next,
                          Clock::time_point now) {
  KeyRun run(table.store(), table.definition().members() == 1);
  const FrameHeader header = transfer_header(table, run.moved_bytes());
  const bool may_stay = table.copies() != nullptr && table.wanted().size() > 0;
  const std::uint32_t offered =
      table.copies() != nullptr ? TableCopies::record_of_only(next) : SlotHead::kNoRecord;
  const bool one_rank = table.definition().domains.members(next).size() == 1;
  while (!leaving.empty()) {
    const Rank to = table.serving_rank(leaving.front().key, next);
    std::uint32_t sent = 0;
    {
      RecordRoom room(outbox_, to, header, leaving.size());
      for (; !room.full(); room.fill()) {
        const auto [key, relocations] = leaving[room.filled()];
        if (!one_rank && table.serving_rank(key, next) != to) break;
        if (may_stay && table.wanted().count(key) > 0) break;
        if (!run.transfer(key, room.next() + sizeof(TransferRecord), next, offered)) break;
        write_record(room.next(), TransferRecord{.key = key.value(), .relocations = relocations});
      }
      sent = room.filled();
    }
    table.counters().relocations_out += sent;
    if (sent == 0) {
      const auto [key, relocations] = leaving.front();
      keys_.instruct(table, key, {next, relocations}, now);
      sent = 1;
    }
    leaving = leaving.subspan(sent);
  }
}

// --- new owner

void Relocation::take_transfers(TableShard& table, const Records& records, std::span<const Key> keys) {
  const ValueLayout& layout = table.sizes().layout();
  check_transfer(records.header, layout.head_bytes() + layout.content_bytes());
  ArrivalTable& arrivals = table.arrivals();
  KeyRun run(table.store(), table.definition().members() == 1);
  for (const Key key : keys) {
    const SlotWord word = run.word(key);
    if (low_half(word.role()) == LowHalf::arrival) arrivals.prefetch(word.low());
  }
  Notification notification(answers_);
  std::uint64_t alone = 0;
  const std::byte* from = records.first;
  for (const Key key : keys) {
    const SlotWord word = run.word(key);
    const std::byte* const moved = from + sizeof(TransferRecord);
    const bool plain = low_half(word.role()) == LowHalf::arrival && arrivals.is_plain(word.low()) &&
                       !arrivals.prepared(word.low()).is_private;
    if (plain) {
      ++alone;
      count_arrival(table.counters(), records.now - arrivals.asked(word.low()));
      const Waiter waiter = arrivals.first_waiter(word.low());
      run.arrive(key, moved);
      arrivals.close(word.low());
      notification.add(waiter);
    } else {
      const auto record = read_record<TransferRecord>(from);
      check_no_members(record);
      keys_.arrive(table, record, moved, records.now);
    }
    from += records.header.record_bytes;
  }
  notification.send();
  if (TableCopies* const copies = table.copies()) copies->sole_wants().count_alone(alone);
}

// --- frames

void Relocation::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  TableShard& table = registry_.table(header.table);
  const auto kind = static_cast<FrameKind>(header.kind);
  check_relocation(table, header);
  Records part{header, records, header.count, now()};
  if (kind == FrameKind::transfer_with_members && table.copies() == nullptr)
    throw ProtocolError("a message transfers a key with holders, which its table cannot have");
  if (header.count == 1 || kind == FrameKind::refuse || kind == FrameKind::transfer_with_members ||
      !KeyRun::suits(table.store()))
    return take_one_by_one(table, part);
  for (std::uint32_t left = header.count; left > 0; left -= part.count) {
    part.count = std::min<std::uint32_t>(left, kKeysAtOnce);
    for (std::uint32_t i = 0; i < part.count; ++i) {
      const std::byte* const record = part.first + std::size_t{i} * header.record_bytes;
      part_[i] = Registry::served_key(table, read_record<std::uint64_t>(record));
      table.store().prefetch_word(part_[i]);
    }
    const std::span<const Key> of_part(part_.data(), part.count);
    if (kind == FrameKind::localize) {
      take_localizes(table, part, of_part);
    } else if (kind == FrameKind::instruct) {
      take_instructs(table, part, of_part);
    } else {
      take_transfers(table, part, of_part);
    }
    part.first += std::size_t{part.count} * header.record_bytes;
  }
}

void Relocation::take_one_by_one(TableShard& table, const Records& records) {
  const FrameHeader& header = records.header;
  const std::byte* record = records.first;
  for (std::uint32_t i = 0; i < header.count; ++i, record += header.record_bytes) {
    prefetch_ahead(table, header, record, i);
    const Key key = Registry::served_key(table, read_record<std::uint64_t>(record));
    switch (static_cast<FrameKind>(header.kind)) {
      case FrameKind::localize:
        check_home(table, key);
        keys_.take_localize(table, key, Domain(header.domain), records.now);
        break;
      case FrameKind::instruct:
        keys_.instruct(table, key, {Domain(header.domain), read_record<InstructRecord>(record).relocations},
                       records.now);
        break;
      case FrameKind::refuse:
        keys_.take_refusal(table, read_key_failure(table.name(), header, record), records.now);
        break;
      default: {
        const auto transfer = read_record<TransferRecord>(record);
        check_members(table, header, transfer, record);
        keys_.arrive(table, transfer, record + sizeof transfer, records.now);
        break;
      }
    }
  }
}

}  // namespace lapse
