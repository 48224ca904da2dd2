#include "lapse/protocol/levels/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/modules/domain_peers.hpp"

namespace lapse {

namespace {

constexpr Replication::CutUser kUser = Replication::CutUser::level;

template <class Record>
Record level_record(const FrameHeader& header, const std::byte* records, std::uint32_t at) {
  return record_of<Record>(header, records, at, "a message about levels has a wrong length");
}

LevelSetting setting_of(const Registry& registry) {
  LevelSetting setting{.self = registry.self(), .ranks = registry.ranks(), .peers = {}, .neighbours = {}};
  for (const auto& table : registry.tables()) {
    const auto& values = table->definition().value_bound;
    setting.is_used = setting.is_used || table->definition().is_bounded();
    setting.counts_values = setting.counts_values || (values && !values->strong);
    if (!table->definition().clock_bound) continue;
    setting.counts_clocks = true;
    Level& least = table->store().may_have_copies() ? setting.least_bound_of_copies : setting.least_bound;
    least = std::min<Level>(least, *table->definition().clock_bound);
  }
  if (!setting.is_used) return setting;
  setting.peers = peers_of(registry);
  setting.neighbours = members_of_domain(registry);
  std::erase(setting.neighbours, registry.self());
  return setting;
}

}  // namespace

void Levels::start(Groups groups, GroupNumber last, bool some_join) {
  groups_.clear();
  ended_.clear();
  ended_up_to_ = last;
  is_cutting_ = waits_to_cut_ = owes_ = false;
  replication_.withdraw_cut(kUser);
  setting_ = setting_of(registry_);
  setting_.has_slots = groups == Groups::in_slots;
  setting_.some_may_join = some_join;
  setting_.may_join = groups == Groups::joining;
  all_ = std::make_shared<GroupLevels>(kAllWorkers, setting_);
  // The answers to DELTAs are awaited all the time: a cut must not wait for the next round of their owner.
  replication_.set_deltas_awaited(kUser, setting_.is_used);
  if (!setting_.is_used) return;
  if (groups == Groups::all_workers || groups == Groups::joining) {
    std::vector<WorkerEndpoint*> workers;
    for (std::size_t i = 0; i < registry_.workers_of_phase(); ++i)
      workers.push_back(registry_.workers()[i].get());
    all_->seat(workers, workers.size());
    groups_.emplace(kAllWorkers, all_);
  }
  // A rank without workers has something to report.
  set_deadline(now());
}

const GroupLevels& Levels::seat(GroupNumber number, std::span<WorkerEndpoint* const> workers,
                                std::size_t all) {
  if (!setting_.is_used) return *all_;
  GroupLevels* const group = setting_.has_slots ? find_or_begin(number) : &add(number);
  if (group == nullptr) throw ProtocolError(fmt::format("group {} of workers begins after its end", number));
  group->seat(workers, all);
  request_end_turn();
  return *group;
}

void Levels::join(WorkerEndpoint& worker) {
  if (!setting_.is_used) return;
  all_->join(worker);
  request_end_turn();
}

void Levels::leave(GroupNumber number, const WorkerEndpoint& worker) {
  const auto found = groups_.find(number);
  if (found == groups_.end()) return;
  found->second->leave(worker);
  if (!found->second->has_workers() && listener_.changed) listener_.changed();
  request_end_turn();
}

const GroupLevels* Levels::find(GroupNumber number) const {
  if (number == kAllWorkers) return all_.get();
  const auto found = groups_.find(number);
  return found == groups_.end() ? nullptr : found->second.get();
}

GroupLevels& Levels::add(GroupNumber number) {
  return *groups_.try_emplace(number, std::make_shared<GroupLevels>(number, setting_)).first->second;
}

GroupLevels* Levels::find_or_begin(GroupNumber number) {
  if (const auto found = groups_.find(number); found != groups_.end()) return found->second.get();
  if (!setting_.is_used || !setting_.has_slots || number == kAllWorkers)
    throw ProtocolError("a message about levels of a group of workers that does not exist");
  if (number <= ended_up_to_ || ended_.contains(number)) return nullptr;
  return &add(number);
}

bool Levels::want(GroupNumber number, Level epoch) {
  const auto found = groups_.find(number);
  if (found == groups_.end() || !found->second->want(epoch)) return false;
  request_end_turn();
  return true;
}

// --- events

void Levels::handle_submission(Submission& submission) {
  static_cast<LevelNotice&>(submission).taken();
  request_end_turn();
}

void Levels::handle_deadline(Clock::time_point) {
  set_deadline(std::nullopt);
  request_end_turn();
}

void Levels::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  GroupLevels* const group = find_or_begin(header.operation);
  for (std::uint32_t i = 0; i < header.count; ++i) {
    switch (static_cast<FrameKind>(header.kind)) {
      case FrameKind::level_up: {
        const auto report = level_record<LevelReport>(header, records, i);
        if (group != nullptr) group->take_up(from, report);
        break;
      }
      case FrameKind::level_down: {
        const auto report = level_record<LevelReport>(header, records, i);
        if (group != nullptr) group->take_down(from, report);
        break;
      }
      case FrameKind::level_near: {
        const auto record = level_record<NearLevelRecord>(header, records, i);
        if (group != nullptr) group->take_near(from, record);
        break;
      }
      default: {
        const auto record = level_record<FreshRecord>(header, records, i);
        if (std::ranges::find(setting_.peers, from) == setting_.peers.end())
          throw ProtocolError("a level from a rank that serves no key of this one for another domain");
        if (group != nullptr) group->take_fresh(from, record);
        // The parts are those of all groups.
        replication_.refreshes().ended(from, record.part);
        break;
      }
    }
  }
  request_end_turn();
}

// --- the steps of a turn

void Levels::advance_cut() {
  RefreshParts& refreshes = replication_.refreshes();
  for (;;) {
    if (is_cutting_) {
      if (!replication_.is_cut_merged()) return;
      if (replication_.end_cut()) repeat_end_turn();
      is_cutting_ = false;
      for (const auto& [number, group] : groups_) group->end_cut();
    }
    waits_to_cut_ = std::ranges::any_of(groups_, [&](const auto& group) LAPSE_REQUIRES(progress_role) {
      return group.second->wants_cut(refreshes);
    });
    // A group that has ended may have waited.
    if (!waits_to_cut_) return replication_.withdraw_cut(kUser);
    for (const auto& [number, group] : groups_) group->prepare_cut(refreshes);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!replication_.begin_cut(kUser, now())) return;
    waits_to_cut_ = false;
    is_cutting_ = true;
  }
}

void Levels::learn() {
  bool has_heard = false;
  bool has_marks = false;
  for (const auto& [number, group] : groups_) {
    if (!group->has_heard()) continue;
    has_heard = true;
    has_marks = group->take_marks() || has_marks;
  }
  if (!has_heard) {
    // A group may have ended that waited.
    if (std::exchange(owes_, false))
      for (const Rank peer : setting_.peers) replication_.set_awaited(peer, false);
    return;
  }
  if (has_marks && !setting_.peers.empty()) replication_.send_changes(now());
  owes_ = false;
  for (const Rank peer : setting_.peers) {
    const bool owes_peer = !replication_.send_owed(peer);
    replication_.set_awaited(peer, owes_peer);
    owes_ = owes_ || owes_peer;
  }
  if (owes_) return;
  for (const auto& [number, group] : groups_)
    if (group->has_heard()) group->learn(replication_.refreshes(), outbox_);
}

void Levels::end_turn() {
  if (!setting_.is_used) return;
  // What messages have raised is no reason for a second round.
  for (const auto& [number, group] : groups_) static_cast<void>(group->has_risen());
  // What is learnt may ask for a further cut, and the end of a cut raises what is learnt on the root. When it
  // learns that all workers are seated, ranks without any count as ended.
  for (bool rose = true; rose;) {
    rose = false;
    for (const auto& [number, group] : groups_)
      group->read_clocks(setting_.has_slots && listener_.waits && listener_.waits(number));
    advance_cut();
    for (const auto& [number, group] : groups_) group->report(outbox_);
    learn();
    for (const auto& [number, group] : groups_) rose = group->has_risen() || rose;
  }
  bool is_visible = false;
  bool waits = is_cutting_ || waits_to_cut_;
  for (const auto& [number, group] : groups_) {
    group->notify_neighbours(outbox_);
    is_visible = group->publish() || is_visible;
    waits = waits || group->waits();
  }
  if (is_visible && listener_.changed) listener_.changed();
  if (setting_.has_slots) forget_ended();
  if (waits) request_end_turn();
}

void Levels::forget_ended() {
  const std::size_t ended = std::erase_if(groups_, [this](const auto& group) LAPSE_REQUIRES(progress_role) {
    if (!group.second->is_over()) return false;
    ended_.insert(group.first);
    return true;
  });
  if (ended == 0) return;
  // It may have waited for a cut, and a sync for that one.
  request_end_turn();
  repeat_end_turn();
  while (!ended_.empty() && *ended_.begin() == ended_up_to_ + 1) {
    ended_.erase(ended_.begin());
    ++ended_up_to_;
  }
}

bool Levels::idle(IdleLevel level) const {
  return level == IdleLevel::answered || !setting_.is_used ||
         (!is_cutting_ && !waits_to_cut_ &&
          std::ranges::none_of(groups_, [](const auto& group) LAPSE_REQUIRES(progress_role) {
            return group.second->has_heard();
          }));
}

}  // namespace lapse
