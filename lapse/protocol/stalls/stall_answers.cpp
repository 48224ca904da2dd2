// StallInquiry: the rank that is asked.
#include <algorithm>
#include <chrono>

#include "lapse/protocol/stalls/stall_inquiry.hpp"
#include "lapse/protocol/table/table_copies.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"

namespace lapse {

namespace {

// Returns the record of the replica that the domain has, or is about to get or to lose; null if there is
// none.
const Replica* replica_of(TableShard& table, Key key) LAPSE_REQUIRES(progress_role) {
  const SlotWord word = table.store().word(key);
  const bool has_record = low_half(word.role()) == LowHalf::record || word.is_copy();
  return has_record ? &table.copies()->replica(key) : nullptr;
}

// Returns the arrival record of a key that something waits for; nullopt if there is none.
std::optional<std::uint32_t> waiting_record(const TableShard& table, Key key, const Replica* replica)
    LAPSE_REQUIRES(progress_role) {
  if (replica != nullptr)
    return replica->arrival == Replica::kNone ? std::nullopt : std::optional(replica->arrival);
  const SlotWord word = table.store().word(key);
  if (low_half(word.role()) == LowHalf::arrival) return word.low();
  return table.arrivals().find_leased(key);
}

}  // namespace

KeyInquiryAnswer StallInquiry::answer_about_key(TableShard& table, const KeyInquiryRecord& inquiry) const {
  const Key key(inquiry.key);
  const SlotWord word = table.store().word(key);
  const KeyView view = table.view(key);
  KeyInquiryAnswer answer{.item = inquiry.item, .role = static_cast<std::uint32_t>(word.role())};
  if (view.at_home()) answer.owner = view.owner_by_table.value();
  if (word.leased()) answer.flags |= KeyInquiryAnswer::kLeased;
  if (inquiry.here != 0) answer.flags |= KeyInquiryAnswer::kHere;
  const Replica* const replica = replica_of(table, key);
  if (replica != nullptr) {
    answer.unanswered = static_cast<std::uint32_t>(replica->unanswered);
    answer.copy_milliseconds = milliseconds_between(replica->refreshed, now());
    answer.copy_owner = table.serving_rank(key, replica->owner).value();
  }
  const std::optional<std::uint32_t> record = waiting_record(table, key, replica);
  if (!record) return answer;
  const ArrivalTable& arrivals = table.arrivals();
  answer.milliseconds = milliseconds_between(arrivals.asked(*record), now());
  if (const KeyQueue* queue = arrivals.find_queue(*record)) {
    const KeyQueue::Counts counts = queue->counts();
    answer.operations = counts.operations;
    answer.requests = counts.requests;
    if (queue->holds_instruct()) answer.flags |= KeyInquiryAnswer::kInstructed;
  }
  return answer;
}

WorkerInquiryAnswer StallInquiry::answer_about_workers(const WorkerInquiryRecord& inquiry) const {
  WorkerInquiryAnswer answer;
  answer.unsynced = answer_about_sync();
  const std::span workers = std::span(registry_.workers()).first(registry_.workers_of_phase());
  const auto attached = [](const auto& worker) { return worker->activity() != WorkerActivity::detached; };
  if (inquiry.collective_calls == WorkerInquiryRecord::kDetached && std::ranges::any_of(workers, attached))
    return answer;
  const auto is_absent = [&](const auto& worker) {
    if (worker->seat().group != inquiry.group) return false;
    return inquiry.level > 0 ? attached(worker) && worker->level().clock() < inquiry.level
                             : worker->collective_calls() < inquiry.collective_calls;
  };
  for (const auto& worker : workers) {
    if (!is_absent(worker)) continue;
    ++answer.absent;
    if (answer.listed == WorkerInquiryAnswer::kListed) continue;
    answer.workers[answer.listed++] = {.number = static_cast<std::uint32_t>(worker->seat().number),
                                       .activity = static_cast<std::uint32_t>(worker->activity())};
  }
  return answer;
}

UnsyncedRecord StallInquiry::answer_about_sync() const {
  UnsyncedRecord record = find_unsynced(registry_, now());
  if (record.count > 0) return record;
  for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank) {
    if (replication_.awaits_credit(Rank(rank))) {
      record.what = static_cast<std::uint32_t>(Unsynced::credit);
      record.peer = rank;
      return record;
    }
  }
  if (const std::optional<Rank> rank = synchronization_.awaited()) {
    record.what = static_cast<std::uint32_t>(Unsynced::sync);
    record.peer = rank->value();
  } else if (replication_.has_pending_wants()) {
    record.what = static_cast<std::uint32_t>(Unsynced::wants);
  }
  return record;
}

}  // namespace lapse
