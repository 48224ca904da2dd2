#include "lapse/protocol/levels/group_levels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

constexpr Level kMaxEpoch = kEndedLevel - 1;
// The clock of a rank whose workers have all ended, where something of theirs is still to be done.
constexpr Level kLeavingLevel = kEndedLevel - 1;

// Returns the levels of a message.
const LevelPair& checked(const LevelPair& level, Level most) {
  if (level.clock < 0 || level.clock > most || level.epoch < 0 || level.epoch > kMaxEpoch)
    throw ProtocolError(fmt::format("a message carries the levels {} and {}", level.clock, level.epoch));
  return level;
}

const LevelReport& checked(const LevelReport& report, Level most) {
  checked(report.merged, most);
  checked(LevelPair{report.visible, report.wanted}, kMaxEpoch);
  checked(LevelPair{report.highest, 0}, kMaxEpoch);
  return report;
}

}  // namespace

GroupLevels::GroupLevels(GroupNumber number, const LevelSetting& setting)
    : number_(number), setting_(setting), tree_(setting.ranks, setting.self) {
  for (const Rank rank : setting.peers) peers_.push_back({.rank = rank});
  for (const Rank rank : setting.neighbours) neighbours_.push_back({.rank = rank});
}

void GroupLevels::seat(std::span<WorkerEndpoint* const> workers, std::size_t all) {
  for (WorkerEndpoint* const worker : workers) seats_.emplace_back(*worker).has_left = setting_.may_join;
  sitting_ = setting_.may_join ? 0 : workers.size();
  if (setting_.has_slots)
    own_seats_ = {.taken = static_cast<std::uint32_t>(sitting_), .all = static_cast<std::uint32_t>(all)};
}

void GroupLevels::leave(const WorkerEndpoint& worker) {
  const auto found = std::ranges::find_if(
      seats_, [&](const Seat& seat) { return &seat.worker == &worker && !seat.has_left.load(); });
  if (found == seats_.end()) return;
  if (const Level clock = worker.level().clock(); clock < kEndedLevel)
    last_clock_ = std::max(last_clock_, clock);
  wanted_here_ = std::max(wanted_here_, worker.level().wanted());
  found->has_left.store(true, std::memory_order_release);
  --sitting_;
}

void GroupLevels::join(WorkerEndpoint& worker) {
  const auto found = std::ranges::find_if(seats_, [&](const Seat& seat) { return &seat.worker == &worker; });
  worker.level().take_seat(clock_);
  found->has_left.store(false, std::memory_order_release);
  ++sitting_;
}

bool GroupLevels::may_raise(Level clock) const {
  return setting_.may_join || std::ranges::none_of(seats_, [&](const Seat& seat) {
           // Where the clock is that of a later seat, this thread sees that the worker has left.
           return seat.worker.level().seated_clock() < clock &&
                  !seat.has_left.load(std::memory_order_acquire);
         });
}

// --- messages

void GroupLevels::take_up(Rank from, const LevelReport& report) {
  const LevelReport::Seats seats = report.seats;
  if (seats.taken > seats.all || (seats.all > 0 && own_seats_.all > 0 && seats.all != own_seats_.all))
    throw ProtocolError(fmt::format("a message says that {} of {} workers of group {} are seated",
                                    seats.taken, seats.all, number_));
  tree_.set_child(from, checked(report, kEndedLevel));
}

void GroupLevels::take_down(Rank from, const LevelReport& report) {
  if (tree_.parent() != from) throw ProtocolError("a level from a rank that is not the parent");
  LevelReport checked_report = checked(report, setting_.has_slots ? kEndedLevel : kEndedLevel - 1);
  if (checked_report.merged.clock == kEndedLevel) {
    if (has_workers())
      throw ProtocolError(fmt::format("a message says that group {} has ended, which has workers", number_));
    ended_ = true;
    checked_report.merged.clock = 0;
  }
  heard_.raise(checked_report.merged);
  seats_known_.raise(checked_report.seats);
  // Before a cut for the next epoch begins.
  raise_visible(checked_report.visible);
  wanted_ = std::max(wanted_, checked_report.wanted);
  highest_ = std::max(highest_, checked_report.highest);
}

void GroupLevels::take_near(Rank from, const NearLevelRecord& record) {
  const auto found = std::ranges::find(neighbours_, from, &Neighbour::rank);
  if (found == neighbours_.end()) throw ProtocolError("a level from a rank of another domain");
  checked(LevelPair{record.clock, 0}, kEndedLevel);
  checked(LevelPair{record.fresh, 0}, kEndedLevel);
  found->reported.clock = std::max(found->reported.clock, record.clock);
  found->reported.fresh = std::max(found->reported.fresh, record.fresh);
}

void GroupLevels::take_fresh(Rank from, const FreshRecord& record) {
  checked(record.level, kEndedLevel - 1);
  std::ranges::find(peers_, from, &Peer::rank)->promises.push_back({record.part.number, record.level});
}

// --- levels

Level GroupLevels::highest_clock() const {
  Level highest = last_clock_;
  for_each_level([&](const WorkerLevel& level) {
    if (level.clock() < kEndedLevel) highest = std::max(highest, level.clock());
  });
  return highest;
}

Level GroupLevels::own_clock(bool held) const {
  if (!setting_.counts_clocks && !setting_.has_slots) return 0;
  if (!knows_workers()) return 0;
  if (setting_.may_join && !has_workers()) {
    // No worker waits for more than the second: the first alone rises by 1 with each way over the tree.
    return std::max({std::min(highest_, known_.clock) + 1, awaited(highest_), last_clock_});
  }
  Level least = kEndedLevel;
  for_each_level([&](const WorkerLevel& level) { least = std::min(least, level.answered()); });
  if (least < kEndedLevel) return setting_.counts_clocks ? least : 0;
  // What a worker has submitted before it left is handled when it has.
  return held || (setting_.has_slots && has_workers()) ? kLeavingLevel : kEndedLevel;
}

Level GroupLevels::clock_of_domain() const {
  Level least = clock_;
  for (const Neighbour& neighbour : neighbours_) least = std::min(least, neighbour.reported.clock);
  return least;
}

LevelPair GroupLevels::complete_level(RefreshParts& refreshes) {
  if (peers_.empty()) return known_;
  LevelPair least{kEndedLevel, kEndedLevel};
  for (Peer& peer : peers_) {
    const std::uint64_t complete = refreshes.complete(peer.rank);
    std::erase_if(peer.promises, [&](const Promise& promise) {
      if (promise.part >= complete) return false;
      peer.fresh.raise(promise.level);
      return true;
    });
    least.lower(peer.fresh);
  }
  return least;
}

// --- the steps of a turn

bool GroupLevels::wants_cut(RefreshParts& refreshes) {
  return LevelPair{clock_of_domain(), wanted_}.exceeds(merged_) || complete_level(refreshes).exceeds(fresh_);
}

void GroupLevels::prepare_cut(RefreshParts& refreshes) {
  // The clocks that were read before the marks are taken, not newer ones.
  cut_ = {clock_of_domain(), wanted_};
  cut_.raise(merged_);
  cut_fresh_ = complete_level(refreshes);
  cut_fresh_.raise(fresh_);
  // A worker that does not see this yet has marked its change before the marks are taken.
  begun_.store(cut_.epoch, std::memory_order_release);
}

void GroupLevels::end_cut() {
  // A group that has begun since the cut did has not prepared it.
  merged_.raise(cut_);
  fresh_.raise(cut_fresh_);
}

void GroupLevels::report(Outbox& outbox) {
  Level wanted = wanted_here_;
  for_each_level([&](const WorkerLevel& level) { wanted = std::max(wanted, level.wanted()); });
  tree_.set_own({.merged = merged_,
                 .visible = fresh_.epoch,
                 .wanted = wanted,
                 .highest = setting_.some_may_join && setting_.counts_clocks ? highest_clock() : 0,
                 .seats = own_seats_});
  LevelReport all = tree_.of_subtree();
  if (const auto parent = tree_.parent()) {
    if (all.exceeds(sent_up_))
      outbox.append_record(*parent, FrameHeader::of(FrameKind::level_up, 0, number_), all);
    sent_up_.raise(all);
  } else {
    // At the end no clock is passed on: quiescence and syncs merge and refresh all.
    if (all.merged.clock >= kLeavingLevel) {
      ended_ = setting_.has_slots && all.merged.clock == kEndedLevel;
      all.merged.clock = 0;
    }
    heard_.raise(all.merged);
    seats_known_.raise(all.seats);
    highest_ = std::max(highest_, all.highest);
    raise_visible(all.visible);
    // One at a time: later changes wait for the next one together.
    wanted_ = std::max(wanted_, std::min(all.wanted, visible() + 1));
  }
  LevelReport down{
      .merged = heard_, .visible = visible(), .wanted = wanted_, .highest = highest_, .seats = {}};
  if (seats_known_.are_complete()) down.seats = seats_known_;
  if (ended_) down.merged.clock = kEndedLevel;
  if (!down.exceeds(sent_down_)) return;
  sent_down_ = down;
  tree_.for_each_child(setting_.ranks, [&](Rank child) {
    progress_role.assert_held();  // Called in place.
    outbox.append_record(child, FrameHeader::of(FrameKind::level_down, 0, number_), down);
  });
}

bool GroupLevels::take_marks() {
  if (!heard_.exceeds(marked_)) return false;
  marked_ = heard_;
  return true;
}

void GroupLevels::learn(RefreshParts& refreshes, Outbox& outbox) {
  for (const Peer& peer : peers_) {
    outbox.append_record(peer.rank, FrameHeader::of(FrameKind::fresh, 0, number_),
                         FreshRecord{refreshes.end_part(peer.rank), heard_});
  }
  known_ = heard_;
  learnt_.store(known_.clock, std::memory_order_release);
}

bool GroupLevels::has_risen() {
  const std::array levels{known_, merged_, fresh_, LevelPair{visible(), wanted_},
                          LevelPair{seats_known_.taken, highest_}};
  if (levels == levels_before_) return false;
  levels_before_ = levels;
  return true;
}

void GroupLevels::notify_neighbours(Outbox& outbox) {
  if (clock_ <= sent_near_.clock && fresh_.clock <= sent_near_.fresh) return;
  sent_near_ = {clock_, fresh_.clock};
  for (const Neighbour& neighbour : neighbours_)
    outbox.append_record(neighbour.rank, FrameHeader::of(FrameKind::level_near, 0, number_), sent_near_);
}

bool GroupLevels::publish() {
  Level least = fresh_.clock;
  for (const Neighbour& neighbour : neighbours_) least = std::min(least, neighbour.reported.fresh);
  domain_fresh_.store(least, std::memory_order_release);
  // A message may have raised one of them before the end of the turn.
  const std::array risen{learnt(), fresh(), visible()};
  if (risen == announced_) return false;
  const bool is_visible = risen.back() != announced_.back();
  announced_ = risen;
  for (const Seat& seat : seats_) seat.worker.bell().ring();
  return is_visible;
}

bool GroupLevels::waits() const {
  if (has_heard() || std::ranges::any_of(peers_, [](const Peer& peer) { return !peer.promises.empty(); }))
    return true;
  bool waits = false;
  if (setting_.counts_clocks || setting_.has_slots)
    for_each_level([&](const WorkerLevel& level) { waits = waits || level.has_unanswered(); });
  return waits;
}

}  // namespace lapse
