#include "lapse/protocol/arrival_table.hpp"

#include <utility>

namespace lapse {

std::uint32_t ArrivalTable::open(Waiter waiter, Clock::time_point now) {
  std::uint32_t number;
  if (free_record_ != kNone) {
    number = free_record_;
    free_record_ = records_[number].next_free;
  } else {
    number = static_cast<std::uint32_t>(records_.size());
    records_.emplace_back();
  }
  records_[number] = Record{waiter, now, kNone, kNone};
  ++in_use_;
  return number;
}

void ArrivalTable::close(std::uint32_t number) {
  Record& record = records_[number];
  if (record.extra != kNone) {
    Extra& extra = extras_[record.extra];
    extra.waiters.clear();
    extra.wishes.clear();
    extra.queue.clear();
    extra.values.clear();
    extra.instruct_queued = false;
    free_extras_.push_back(record.extra);
  }
  record = Record{{}, {}, kNone, free_record_};
  free_record_ = number;
  --in_use_;
}

ArrivalTable::Extra& ArrivalTable::make_extra(std::uint32_t number) {
  Record& record = records_[number];
  if (record.extra == kNone) {
    if (free_extras_.empty()) {
      free_extras_.push_back(static_cast<std::uint32_t>(extras_.size()));
      extras_.emplace_back();
    }
    record.extra = free_extras_.back();
    free_extras_.pop_back();
  }
  return extras_[record.extra];
}

void ArrivalTable::add_waiter(std::uint32_t number, Waiter waiter) {
  Extra* extra = this->extra(number);
  if (extra != nullptr && extra->instruct_queued) {
    extra->wishes.push_back(waiter);
  } else if (!records_[number].first_waiter) {
    records_[number].first_waiter = waiter;
  } else {
    make_extra(number).waiters.push_back(waiter);
  }
}

std::vector<Waiter> ArrivalTable::take_waiters(std::uint32_t number) {
  std::vector<Waiter> waiters;
  if (Extra* extra = this->extra(number)) waiters = std::exchange(extra->waiters, {});
  if (const Waiter first = std::exchange(records_[number].first_waiter, {}))
    waiters.insert(waiters.begin(), first);
  return waiters;
}

void ArrivalTable::queue_operation(std::uint32_t number, const OperationPart& part, std::size_t update_bytes,
                                   Clock::time_point now) {
  Extra& extra = make_extra(number);
  Queued queued;
  queued.part = part;
  queued.since = now;
  if (part.kind != FrameKind::pull) {
    // Aligned as rules want it.
    extra.values.resize(padded_bytes(extra.values.size()));
    queued.value_offset = extra.values.size();
    extra.values.insert(extra.values.end(), part.value, part.value + update_bytes);
  }
  queued.part.value = nullptr;
  extra.queue.push_back(queued);
}

void ArrivalTable::queue_instruct(std::uint32_t number, Domain next, std::uint32_t relocations,
                                  Clock::time_point now) {
  Extra& extra = make_extra(number);
  Queued queued;
  queued.kind = Queued::Kind::instruct;
  queued.next = next;
  queued.relocations = relocations;
  queued.since = now;
  extra.queue.push_back(queued);
  extra.instruct_queued = true;
}

void ArrivalTable::queue_lease(std::uint32_t number, const LeaseAsker& asker, Clock::time_point now) {
  Queued queued;
  queued.kind = Queued::Kind::lease;
  queued.lease = asker;
  queued.since = now;
  make_extra(number).queue.push_back(queued);
}

}  // namespace lapse
