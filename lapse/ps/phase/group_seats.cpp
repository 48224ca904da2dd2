#include "lapse/ps/phase/group_seats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/phase/counted_accesses.hpp"
#include "lapse/ps/phase/group_phase.hpp"

namespace lapse {

std::vector<WorkersOfGroups> agree_on_groups(Agreement& agreement, std::span<const GroupPart> groups,
                                             Rank rank) {
  auto workers = agreement.exchange("run_groups", [&] {
    WorkersOfGroups mine;
    for (const GroupPart& part : groups) {
      if (part.workers < 0 || part.workers > ParameterServer::kMaxWorkers) {
        throw UsageError(fmt::format("run_groups with {} workers of group {} on rank {}: expected 0 to {}",
                                     part.workers, mine.size(), rank.value(), ParameterServer::kMaxWorkers));
      }
      mine.push_back(part.workers);
    }
    return mine;
  });
  for (std::size_t other = 0; other < workers.size(); ++other) {
    if (workers[other].size() == workers[0].size()) continue;
    agreement.fail_everywhere(
        CollectiveMismatch(fmt::format("run_groups was called for {} groups on rank 0 and for {} on rank {}",
                                       workers[0].size(), workers[other].size(), other)));
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (std::ranges::any_of(workers, [&](const WorkersOfGroups& of_rank) { return of_rank[group] > 0; }))
      continue;
    agreement.fail_everywhere(UsageError(
        fmt::format("run_groups without a worker of group {} on any rank: at least one is needed", group)));
  }
  return workers;
}

GroupSeats::GroupSeats(const Phase& all, std::span<const GroupPart> parts,
                       std::span<const WorkersOfGroups> workers, GroupNumber first)
    : protocol_(all.protocol) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto local = static_cast<std::size_t>(parts[i].workers);
    std::vector<Rank> participants;
    std::size_t before = 0;
    std::size_t count = 0;
    for (std::size_t rank = 0; rank < workers.size(); ++rank) {
      const auto of_rank = static_cast<std::size_t>(workers[rank][i]);
      if (of_rank > 0) participants.emplace_back(static_cast<std::int32_t>(rank));
      if (rank < all.rank.index()) before += of_rank;
      count += of_rank;
    }
    const GroupNumber number = first + i;
    std::vector<WorkerEndpoint*> seats;
    const std::size_t first_slot = slots_.size();
    for (std::size_t worker = 0; worker < local; ++worker) {
      seats.push_back(protocol_.registry().workers()[first_slot + worker].get());
      seats.back()->take_seat({.group = number, .number = before + worker});
    }
    progress_role.assert_held();  // No engine runs.
    const GroupLevels& levels = protocol_.levels().seat(number, seats, count);
    RankGroup& group = protocol_.groups().begin(number, std::move(seats));
    groups_.push_back(std::make_unique<Group>(parts[i], protocol_, all.engine, group));
    Group& added = *groups_.back();
    added.phase.emplace(phase_of_group(all, added.workers, levels, before, local, count));
    added.workers.start(local, std::move(participants));
    for (std::size_t worker = 0; worker < local; ++worker)
      slots_.push_back({.group = &added, .counted = counted_in(protocol_.registry(), first_slot + worker)});
  }
}

void GroupSeats::run(SeatRunner& runner, std::size_t slot, GroupFailureReport& report) {
  Slot& own = slots_[slot];
  const auto began = std::chrono::steady_clock::now();
  runner.run({*own.group->phase, *protocol_.registry().workers()[slot]}, own.group->part.work, report);
  own.time = std::chrono::steady_clock::now() - began;
}

std::vector<GroupEnd> GroupSeats::ends() const {
  std::vector<GroupEnd> ends(groups_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = *groups_[i];
    GroupEnd& end = ends[i];
    if (const Failure& failure = group.workers.failure(); failure.raised())
      end.failure.emplace(failure.origin(), failure.text());
    end.counters.resize(protocol_.registry().tables().size());
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot].group != &group) continue;
      const std::vector<TableCounters> now = counted_in(protocol_.registry(), slot);
      for (std::size_t table = 0; table < now.size(); ++table)
        end.counters[table] += counted_since(slots_[slot].counted[table], now[table]);
      end.time = std::max(end.time, slots_[slot].time);
    }
  }
  return ends;
}

}  // namespace lapse
