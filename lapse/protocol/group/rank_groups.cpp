#include "lapse/protocol/group/rank_groups.hpp"

#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/core/exception_text.hpp"

namespace lapse {

RankGroup::RankGroup(RankGroups& groups, GroupNumber number, Outbox& outbox)
    : groups_(groups),
      number_(number),
      collective_(
          outbox, FrameKind::workers_up, FrameKind::workers_down, [this] { groups_.wake(*this); }, number) {}

void RankGroup::handle_submission(Submission& submission) {
  if (failure_.raised()) return;
  try {
    collective_.handle_submission(submission);
  } catch (const CollectiveMismatch&) {
    groups_.report(*this, std::current_exception());
  }
}

// --- all groups

RankGroup& RankGroups::begin(GroupNumber number, std::vector<WorkerEndpoint*> seats) {
  std::unique_ptr<RankGroup>& group = groups_[number];
  if (number == kAllWorkers || group) throw ProtocolError("a group of workers begins twice");
  group = std::make_unique<RankGroup>(*this, number, outbox_);
  group->seats_ = std::move(seats);
  return *group;
}

RankGroup& RankGroups::begin_in_slots(GroupNumber number, std::vector<WorkerEndpoint*> seats) {
  if (!last_begun_ || number <= *last_begun_)
    throw ProtocolError("groups of workers in slots begin without their order");
  RankGroup& group = begin(number, std::move(seats));
  group.is_in_slots_ = true;
  last_begun_ = number;
  return group;
}

void RankGroups::handle_kept(GroupNumber number) {
  const auto found = kept_.find(number);
  if (found == kept_.end()) return;
  const std::vector<Kept> frames = std::move(found->second);
  kept_.erase(found);
  for (const Kept& frame : frames)
    handle_frame(frame.from, frame.header, reinterpret_cast<const std::byte*>(frame.records.data()));
}

void RankGroups::keep(Rank from, const FrameHeader& header, const std::byte* records) {
  const std::size_t bytes = std::size_t{header.count} * header.record_bytes;
  Kept kept{.from = from, .header = header, .records = {}};
  kept.records.resize((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  if (bytes > 0) std::memcpy(kept.records.data(), records, bytes);
  kept_[header.operation].push_back(std::move(kept));
}

RankGroup* RankGroups::find(GroupNumber number) {
  if (number == kAllWorkers) return &all_;
  const auto found = groups_.find(number);
  if (found != groups_.end()) return found->second.get();
  if (!last_begun_) throw ProtocolError("a message of a group of workers that does not exist");
  return nullptr;
}

void RankGroups::handle_submission(Submission& submission) {
  const auto& own = static_cast<GroupFailureReport&>(submission);
  report(*own.group, own.failure, own.worker);
}

void RankGroups::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  RankGroup* const found = find(header.operation);
  if (found == nullptr) {
    if (header.operation > *last_begun_) keep(from, header, records);
    return;
  }
  RankGroup& group = *found;
  if (static_cast<FrameKind>(header.kind) == FrameKind::group_failed) {
    if (&group == &all_) throw ProtocolError("a message of the failure of the group of all workers");
    const std::string_view text(reinterpret_cast<const char*>(records),
                                std::size_t{header.count} * header.record_bytes);
    if (group.failure_.raise(registry_.rank(header.origin), text)) stop(group);
    return;
  }
  if (group.failure_.raised()) return;
  try {
    group.collective_.handle_frame(from, header, records);
  } catch (const CollectiveMismatch&) {
    report(group, std::current_exception());
  }
}

void RankGroups::report(RankGroup& group, const std::exception_ptr& failure,
                        std::optional<std::uint64_t> worker) {
  // The host reports what is thrown to every rank.
  if (&group == &all_) std::rethrow_exception(failure);
  with_text_of(failure, [&](std::string_view text) LAPSE_REQUIRES(progress_role) {
    if (!group.failure_.raise(registry_.self(), text)) return;
    stop(group);
    send_failure(group, text);
    if (!listener_) return;
    try {
      listener_(group.number_, worker, text);
    } catch (...) {
      // The group ends also where memory for this rank's own report cannot be allocated.
    }
  });
}

void RankGroups::send_failure(const RankGroup& group, std::string_view text) {
  FrameHeader header = FrameHeader::of(FrameKind::group_failed, 0, group.number_);
  header.origin = registry_.self().value();
  header.record_bytes = static_cast<std::uint32_t>(text.size());
  const auto send = [&](Rank rank) LAPSE_REQUIRES(progress_role) {
    if (rank == registry_.self()) return;
    std::byte* const record = outbox_.append(rank, header);
    if (!text.empty()) std::memcpy(record, text.data(), text.size());
  };
  if (group.is_in_slots_) {
    for (const Rank rank : group.collective_.participants()) send(rank);
  } else {
    for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank) send(Rank(rank));
  }
}

void RankGroups::stop(const RankGroup& group) {
  for (WorkerEndpoint* const seat : group.seats_) seat->failed();
}

void RankGroups::wake(const RankGroup& group) const {
  if (&group == &all_) return registry_.wake_workers();
  for (WorkerEndpoint* const seat : group.seats_) seat->bell().ring();
}

}  // namespace lapse
