#include "lapse/protocol/table/arrival_table.hpp"

#include <utility>

namespace lapse {

void ArrivalTable::add_record() {
  if (free_records_.capacity() <= records_.size()) free_records_.reserve(2 * records_.size() + kAhead);
  records_.emplace_back();
  free_records_.push_back(static_cast<std::uint32_t>(records_.size() - 1));
}

void ArrivalTable::close_extra(Record& record) {
  Extra& extra = extras_[record.extra];
  extra.waiters.clear();
  extra.relocalizes.clear();
  extra.queue.clear();
  if (extra.leased) leased_.erase(extra.leased->value());
  extra.leased.reset();
  free_extras_.push_back(record.extra);
  record.extra = kNoExtra;
}

ArrivalTable::Extra& ArrivalTable::extra(std::uint32_t number) {
  Record& record = records_[number];
  if (record.extra == kNoExtra) {
    if (free_extras_.empty()) {
      free_extras_.push_back(static_cast<std::uint32_t>(extras_.size()));
      extras_.emplace_back();
    }
    record.extra = free_extras_.back() & kNoExtra;
    free_extras_.pop_back();
  }
  return extras_[record.extra];
}

std::optional<std::uint32_t> ArrivalTable::find_leased(Key key) const {
  const auto found = leased_.find(key.value());
  return found == leased_.end() ? std::nullopt : std::optional(found->second);
}

void ArrivalTable::keep_for_lease(std::uint32_t number, Key key) {
  extra(number).leased = key;
  leased_.insert_or_assign(key.value(), number);
}

bool ArrivalTable::holds_instruct(std::uint32_t number) const {
  return !is_plain(number) && extras_[records_[number].extra].queue.holds_instruct();
}

void ArrivalTable::add_waiter(std::uint32_t number, Waiter waiter) {
  if (holds_instruct(number)) {
    extra(number).relocalizes.push_back(waiter);
  } else if (!records_[number].first_waiter) {
    records_[number].first_waiter = waiter;
  } else {
    extra(number).waiters.push_back(waiter);
  }
}

std::vector<Waiter> ArrivalTable::take_waiters(std::uint32_t number) {
  std::vector<Waiter> waiters;
  if (!is_plain(number)) waiters = std::exchange(extra(number).waiters, {});
  if (const Waiter first = std::exchange(records_[number].first_waiter, {}))
    waiters.insert(waiters.begin(), first);
  return waiters;
}

std::vector<Waiter> ArrivalTable::take_relocalizes(std::uint32_t number) {
  return is_plain(number) ? std::vector<Waiter>() : std::exchange(extra(number).relocalizes, {});
}

}  // namespace lapse
