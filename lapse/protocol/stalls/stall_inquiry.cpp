#include "lapse/protocol/stalls/stall_inquiry.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"

namespace lapse {

namespace {

template <class Record>
Record inquiry_record(const FrameHeader& header, const std::byte* records, std::uint32_t at) {
  return record_of<Record>(header, records, at, "an inquiry has a wrong length");
}

Role checked_role(std::uint32_t number) {
  const auto role = static_cast<Role>(number);
  if (number > UINT8_MAX || role_name(role) == "unknown")
    throw ProtocolError("an answer to an inquiry names a role that does not exist");
  return role;
}

KeyStanding standing_of(const KeyInquiryAnswer& answer, std::int32_t ranks) {
  if (answer.unanswered > static_cast<std::uint32_t>(Replica::Unanswered::localize))
    throw ProtocolError("an answer to an inquiry names a message that does not exist");
  if (answer.copy_owner < -1 || answer.copy_owner >= ranks)
    throw ProtocolError("an answer to an inquiry names a rank that does not exist");
  return {.role = checked_role(answer.role),
          .leased = (answer.flags & KeyInquiryAnswer::kLeased) != 0,
          .instructed = (answer.flags & KeyInquiryAnswer::kInstructed) != 0,
          .operations = answer.operations,
          .requests = answer.requests,
          .milliseconds = answer.milliseconds,
          .unanswered = static_cast<Replica::Unanswered>(answer.unanswered),
          .copy_milliseconds = answer.copy_milliseconds,
          .copy_owner = answer.copy_owner < 0 ? std::nullopt : std::optional(Rank(answer.copy_owner))};
}

// Whether a domain is nearer to the key's value than another: it has the value, or it is the first of several
// that have been instructed to pass it on.
bool is_nearer(const KeyStanding& standing, const KeyStanding& than) {
  if (has_main_copy(than.role)) return false;
  if (has_main_copy(standing.role)) return true;
  if (!standing.instructed) return false;
  return !than.instructed || standing.milliseconds > than.milliseconds;
}

// Whether the item waits for its route. The entry of an answered item may by now be that of another key, so
// it counts only if it holds the item itself.
bool is_held(const OperationState& operation, std::uint32_t item) LAPSE_REQUIRES(progress_role) {
  const PinnedKey* const pinned = operation.items[item].pinned;
  return pinned != nullptr && std::ranges::any_of(pinned->held, [&](const PinnedKey::Held& held) {
           return held.operation == &operation && held.item == item;
         });
}

}  // namespace

// --- the rank that asks

void StallInquiry::handle_submission(Submission& submission) {
  auto& question = static_cast<StallQuestion&>(submission);
  const Clock::time_point at = now();
  asked_.push_back({.question = &question,
                    .number = ++questions_,
                    .deadline = at + kPatience,
                    .unanswered = std::vector<std::uint32_t>(static_cast<std::size_t>(registry_.ranks()))});
  Asked& asked = asked_.back();
  if (question.detached) {
    if (!termination_.may_have_ended())
      ask_about_workers(asked, {.collective_calls = WorkerInquiryRecord::kDetached});
  } else if (question.collective_calls || question.level) {
    const WorkerInquiryRecord inquiry{.collective_calls = question.collective_calls.value_or(0),
                                      .group = question.group,
                                      .level = question.level.value_or(0)};
    take_worker_answer(asked, registry_.self(), answer_about_workers(inquiry));
    ask_about_workers(asked, inquiry);
  } else {
    choose_keys(question);
    for (std::uint32_t item = 0; item < question.keys.size(); ++item) {
      const AwaitedKey& key = question.keys[item];
      if (key.table->store().may_have_copies())
        ask_about_key(asked, item, key.table->serving_rank(key.key), true);
      ask_about_key(asked, item, key.home);
    }
  }
  finish_some(at);
}

void StallInquiry::choose_keys(StallQuestion& question) const {
  question.worker->for_each_open([&](const OperationState& operation) {
    progress_role.assert_held();  // Called in place.
    choose_operation_keys(operation, question);
  });
  const LeaseRequest& request = question.worker->lease_request();
  if (!request.finished.load(std::memory_order_acquire) && request.granted < request.items.size()) {
    add_key(*request.items[request.granted].table, request.items[request.granted].key, std::nullopt,
            question);
    question.further_keys += request.items.size() - request.granted - 1;
  }
}

void StallInquiry::choose_operation_keys(const OperationState& operation, StallQuestion& question) const {
  const TableShard& table = *operation.table;
  const std::size_t before = question.keys.size();
  for (std::uint32_t i = 0; i < operation.items.size() && question.keys.size() < kKeys; ++i) {
    const OperationState::Item& item = operation.items[i];
    const bool waits = operation.kind == OperationKind::localize
                           ? !has_main_copy(table.store().word(item.key).role())
                           : item.in_flight() || is_held(operation, i);
    if (waits) add_key(table, item.key, operation.kind, question);
  }
  const std::uint64_t left = operation.remaining.load(std::memory_order_relaxed);
  question.further_keys += left - std::min<std::uint64_t>(left, question.keys.size() - before);
}

void StallInquiry::add_key(const TableShard& table, Key key, std::optional<OperationKind> kind,
                           StallQuestion& question) const {
  if (question.keys.size() == kKeys) {
    ++question.further_keys;
    return;
  }
  const Rank home = table.serving_rank(key, table.definition().homes.home(key));
  question.keys.push_back({.table = &table,
                           .key = key,
                           .kind = kind,
                           .home = home,
                           .owner = std::nullopt,
                           .owner_rank = home,
                           .at_owner = std::nullopt});
}

void StallInquiry::ask_about_key(Asked& asked, std::uint32_t item, Rank rank, bool here) {
  const AwaitedKey& key = asked.question->keys[item];
  const KeyInquiryRecord inquiry{.key = key.key.value(), .item = item, .here = here ? 1U : 0U};
  if (rank == registry_.self()) {
    take_key_answer(asked, rank, answer_about_key(registry_.table(key.table->id().value()), inquiry));
    return;
  }
  outbox_.append_record(rank, FrameHeader::of(FrameKind::key_inquiry, key.table->id().value(), asked.number),
                        inquiry);
  ++asked.unanswered[rank.index()];
  ++asked.all_unanswered;
}

void StallInquiry::ask_about_workers(Asked& asked, const WorkerInquiryRecord& inquiry) {
  if (std::exchange(asked.asked_every_rank, true)) return;
  const FrameHeader header = FrameHeader::of(FrameKind::worker_inquiry, 0, asked.number);
  for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank) {
    if (rank == registry_.self().value()) continue;
    outbox_.append_record(Rank(rank), header, inquiry);
    ++asked.unanswered[static_cast<std::size_t>(rank)];
    ++asked.all_unanswered;
  }
}

void StallInquiry::take_key_answer(Asked& asked, Rank from, const KeyInquiryAnswer& answer) {
  if (answer.item >= asked.question->keys.size())
    throw ProtocolError("an answer to an inquiry names a key that was not asked for");
  AwaitedKey& key = asked.question->keys[answer.item];
  const KeyStanding standing = standing_of(answer, registry_.ranks());
  if ((answer.flags & KeyInquiryAnswer::kHere) != 0) {
    if (from != key.table->serving_rank(key.key))
      throw ProtocolError("an answer to an inquiry does not come from the rank that serves the key");
    key.here = standing;
    return;
  }
  if (!key.owner) {
    const std::int32_t domains = key.table->definition().domains.domains();
    if (from != key.home || answer.owner < 0 || answer.owner >= domains)
      throw ProtocolError("an answer to an inquiry does not come from the home of the key");
    key.owner = Domain(answer.owner);
    key.owner_rank = key.table->serving_rank(key.key, *key.owner);
    if (key.owner_rank != from) {
      ask_about_key(asked, answer.item, key.owner_rank);
      return;
    }
  }
  if (asked.searched[answer.item]) {
    if (!is_nearer(standing, *key.at_owner)) return;
    key.owner = key.table->definition().domains.domain_of(from);
    key.owner_rank = from;
    key.at_owner = standing;
    return;
  }
  if (from != key.owner_rank)
    throw ProtocolError("an answer to an inquiry does not come from the owner of the key");
  key.at_owner = standing;
  if (low_half(standing.role) == LowHalf::arrival || standing.role == Role::upgrading) {
    search_key(asked, answer.item);
  } else if (!standing.leased) {
    ask_about_workers(asked, {});
  }
}

void StallInquiry::search_key(Asked& asked, std::uint32_t item) {
  const AwaitedKey& key = asked.question->keys[item];
  const Domain requester = *key.owner;  // An answer of this rank arrives at once and may change the owner.
  asked.searched[item] = true;
  for (std::int32_t domain = 0; domain < key.table->definition().domains.domains(); ++domain) {
    if (Domain(domain) != requester)
      ask_about_key(asked, item, key.table->serving_rank(key.key, Domain(domain)));
  }
}

void StallInquiry::take_worker_answer(Asked& asked, Rank from, const WorkerInquiryAnswer& answer) {
  const auto listed = std::min<std::size_t>({answer.listed, answer.absent, WorkerInquiryAnswer::kListed});
  for (std::size_t i = 0; i < listed; ++i) {
    asked.question->absent.push_back({.rank = from,
                                      .worker = answer.workers[i].number,
                                      .activity = static_cast<WorkerActivity>(answer.workers[i].activity)});
  }
  asked.question->further_absent += answer.absent - listed;
  const UnsyncedRecord& record = answer.unsynced;
  if (record.what >= kUnsyncedKinds)
    throw ProtocolError("an answer to an inquiry names something that cannot be waited for");
  const auto what = static_cast<Unsynced>(record.what);
  if (!asked.question->synced || what == Unsynced::nothing) return;
  const bool has_table = what != Unsynced::wants && what != Unsynced::credit && what != Unsynced::sync;
  asked.question->unsynced.push_back(
      {.rank = from, .record = record, .table = has_table ? &registry_.table(record.table) : nullptr});
}

StallInquiry::Asked* StallInquiry::count_answer(std::uint64_t question, Rank from) {
  const auto asked = std::ranges::find(asked_, question, &Asked::number);
  if (asked == asked_.end()) return nullptr;
  if (asked->unanswered[from.index()] == 0)
    throw ProtocolError("an answer to an inquiry comes from a rank that was not asked");
  --asked->unanswered[from.index()];
  --asked->all_unanswered;
  return &*asked;
}

void StallInquiry::finish_some(Clock::time_point now) {
  std::erase_if(asked_, [now](const Asked& asked) {
    if (asked.all_unanswered > 0 && now < asked.deadline) return false;
    StallQuestion& question = *asked.question;
    for (std::size_t rank = 0; rank < asked.unanswered.size(); ++rank)
      if (asked.unanswered[rank] > 0) question.silent.emplace_back(static_cast<std::int32_t>(rank));
    WorkerEndpoint* const worker = question.worker;  // the question may be freed as soon as it is finished
    question.finished.store(true, std::memory_order_release);
    if (worker != nullptr) worker->bell().ring();
    return true;
  });
  set_deadline(asked_.empty() ? std::nullopt : std::optional(asked_.front().deadline));
}

void StallInquiry::handle_deadline(Clock::time_point now) {
  finish_some(now);
}

// --- messages

void StallInquiry::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  for (std::uint32_t i = 0; i < header.count; ++i) {
    switch (static_cast<FrameKind>(header.kind)) {
      case FrameKind::key_inquiry: {
        const auto record = inquiry_record<KeyInquiryRecord>(header, records, i);
        TableShard& table = registry_.table(header.table);
        Registry::served_key(table, record.key);
        outbox_.append_record(from, FrameHeader::of(FrameKind::key_inquiry_answer, 0, header.operation),
                              answer_about_key(table, record));
        break;
      }
      case FrameKind::worker_inquiry: {
        const auto record = inquiry_record<WorkerInquiryRecord>(header, records, i);
        outbox_.append_record(from, FrameHeader::of(FrameKind::worker_inquiry_answer, 0, header.operation),
                              answer_about_workers(record));
        break;
      }
      case FrameKind::key_inquiry_answer: {
        const auto answer = inquiry_record<KeyInquiryAnswer>(header, records, i);
        if (Asked* asked = count_answer(header.operation, from)) take_key_answer(*asked, from, answer);
        break;
      }
      default: {
        const auto answer = inquiry_record<WorkerInquiryAnswer>(header, records, i);
        if (Asked* asked = count_answer(header.operation, from)) take_worker_answer(*asked, from, answer);
        break;
      }
    }
  }
  finish_some(now());
}

}  // namespace lapse
