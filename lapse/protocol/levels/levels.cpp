#include "lapse/protocol/levels/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/modules/domain_peers.hpp"

namespace lapse {

namespace {

constexpr Replication::CutUser kUser = Replication::CutUser::level;
constexpr Level kMaxEpoch = kEndedLevel - 1;

template <class Record>
Record level_record(const FrameHeader& header, const std::byte* records, std::uint32_t at) {
  return record_of<Record>(header, records, at, "a message about levels has a wrong length");
}

// Returns the levels of a message.
const LevelPair& checked(const LevelPair& level, Level most) {
  if (level.clock < 0 || level.clock > most || level.epoch < 0 || level.epoch > kMaxEpoch)
    throw ProtocolError(fmt::format("a message carries the levels {} and {}", level.clock, level.epoch));
  return level;
}

const LevelReport& checked(const LevelReport& report, Level most) {
  checked(report.merged, most);
  checked(LevelPair{report.visible, report.wanted}, kMaxEpoch);
  return report;
}

}  // namespace

void Levels::start() {
  least_bound_ = least_bound_of_copies_ = kUnbounded;
  is_used_ = counts_clocks_ = false;
  for (const auto& table : registry_.tables()) {
    is_used_ = is_used_ || table->definition().is_bounded();
    if (!table->definition().clock_bound) continue;
    counts_clocks_ = true;
    Level& least = table->store().may_have_copies() ? least_bound_of_copies_ : least_bound_;
    least = std::min<Level>(least, *table->definition().clock_bound);
  }
  // The answers to DELTAs are awaited all the time: a cut must not wait for the next round of their owner.
  replication_.set_deltas_awaited(kUser, is_used_);
  if (!is_used_) return;
  peers_.clear();
  for (const Rank rank : peers_of(registry_)) peers_.push_back({.rank = rank});
  for (auto& promises : parts_of_) promises.clear();
  neighbours_.clear();
  for (const Rank rank : members_of_domain(registry_))
    if (rank != registry_.self()) neighbours_.push_back({.rank = rank, .reported = {}});
  tree_ = LevelTree(registry_.ranks(), registry_.self());
  clock_ = wanted_ = wanted_here_ = 0;
  merged_ = fresh_ = heard_ = marked_ = known_ = {};
  sent_up_ = sent_down_ = {};
  is_cutting_ = waits_to_cut_ = false;
  sent_near_ = {};
  learnt_.store(0, std::memory_order_relaxed);
  domain_fresh_.store(0, std::memory_order_relaxed);
  begun_.store(0, std::memory_order_relaxed);
  visible_.store(0, std::memory_order_relaxed);
  announced_ = {};
  // A rank without workers has something to report.
  set_deadline(now());
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
  for (std::uint32_t i = 0; i < header.count; ++i) {
    switch (static_cast<FrameKind>(header.kind)) {
      case FrameKind::level_up:
        tree_.set_child(from, checked(level_record<LevelReport>(header, records, i), kEndedLevel));
        break;
      case FrameKind::level_down: {
        if (tree_.parent() != from) throw ProtocolError("a level from a rank that is not the parent");
        const auto report = checked(level_record<LevelReport>(header, records, i), kEndedLevel - 1);
        heard_.raise(report.merged);
        // Before a cut for the next epoch begins.
        raise_visible(report.visible);
        wanted_ = std::max(wanted_, report.wanted);
        break;
      }
      case FrameKind::level_near: {
        const auto record = level_record<NearLevelRecord>(header, records, i);
        const auto found = std::ranges::find(neighbours_, from, &Neighbour::rank);
        if (found == neighbours_.end()) throw ProtocolError("a level from a rank of another domain");
        found->reported.clock = std::max(found->reported.clock, record.clock);
        found->reported.fresh = std::max(found->reported.fresh, record.fresh);
        break;
      }
      default:
        take_fresh(from, level_record<FreshRecord>(header, records, i));
        break;
    }
  }
  request_end_turn();
}

void Levels::take_fresh(Rank from, const FreshRecord& record) {
  if (std::ranges::find(peers_, from, &Peer::rank) == peers_.end())
    throw ProtocolError("a level from a rank that serves no key of this one for another domain");
  checked(record.level, kEndedLevel - 1);
  replication_.refreshes().ended(from, record.part);
  parts_of_[from.index()].push_back({record.part.number, record.level});
}

// --- levels

Level Levels::own_clock() const {
  if (!counts_clocks_) return 0;
  Level least = kEndedLevel;
  for (std::size_t i = 0; i < registry_.workers_of_phase(); ++i)
    least = std::min(least, registry_.workers()[i]->level().answered());
  return least;
}

Level Levels::clock_of_domain() const {
  Level least = clock_;
  for (const Neighbour& neighbour : neighbours_) least = std::min(least, neighbour.reported.clock);
  return least;
}

LevelPair Levels::complete_level() {
  if (peers_.empty()) return known_;
  LevelPair least{kEndedLevel, kEndedLevel};
  for (Peer& peer : peers_) {
    std::deque<Promise>& promises = parts_of_[peer.rank.index()];
    const std::uint64_t complete = replication_.refreshes().complete(peer.rank);
    std::erase_if(promises, [&](const Promise& promise) {
      if (promise.part >= complete) return false;
      peer.fresh.raise(promise.level);
      return true;
    });
    least.lower(peer.fresh);
  }
  return least;
}

bool Levels::wants_cut() {
  return LevelPair{clock_of_domain(), wanted_}.exceeds(merged_) || complete_level().exceeds(fresh_);
}

// --- the steps of a turn

void Levels::advance_cut() {
  for (;;) {
    if (is_cutting_) {
      if (!replication_.is_cut_merged()) return;
      if (replication_.end_cut()) repeat_end_turn();
      is_cutting_ = false;
      merged_ = cut_;
      fresh_ = cut_fresh_;
    }
    waits_to_cut_ = wants_cut();
    if (!waits_to_cut_) return;
    // The clocks that were read before the marks are taken, not newer ones.
    cut_ = {clock_of_domain(), wanted_};
    cut_.raise(merged_);
    cut_fresh_ = complete_level();
    cut_fresh_.raise(fresh_);
    // A worker that does not see this yet has marked its change before the marks are taken.
    begun_.store(cut_.epoch, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!replication_.begin_cut(kUser, now())) return;
    waits_to_cut_ = false;
    is_cutting_ = true;
  }
}

void Levels::report() {
  Level wanted = wanted_here_;
  for (std::size_t i = 0; i < registry_.workers_of_phase(); ++i)
    wanted = std::max(wanted, registry_.workers()[i]->level().wanted());
  tree_.set_own({.merged = merged_, .visible = fresh_.epoch, .wanted = wanted});
  LevelReport all = tree_.of_subtree();
  if (const auto parent = tree_.parent()) {
    if (all.exceeds(sent_up_)) outbox_.append_record(*parent, FrameHeader::of(FrameKind::level_up), all);
    sent_up_.raise(all);
  } else {
    // Of a phase that ends, no clock is passed on: its quiescence merges and refreshes all.
    if (all.merged.clock == kEndedLevel) all.merged.clock = 0;
    heard_.raise(all.merged);
    raise_visible(all.visible);
    // One at a time: later changes wait for the next one together.
    wanted_ = std::max(wanted_, std::min(all.wanted, visible() + 1));
  }
  const LevelReport down{.merged = heard_, .visible = visible(), .wanted = wanted_};
  if (!down.exceeds(sent_down_)) return;
  sent_down_ = down;
  tree_.for_each_child(registry_.ranks(), [&](Rank child) {
    progress_role.assert_held();  // Called in place.
    outbox_.append_record(child, FrameHeader::of(FrameKind::level_down), down);
  });
}

void Levels::learn() {
  if (!heard_.exceeds(known_)) return;
  if (!peers_.empty()) {
    // Once for each level: what is changed later is not owed for it.
    if (heard_.exceeds(marked_)) {
      marked_ = heard_;
      replication_.send_changes(now());
    }
    bool owes = false;
    for (const Peer& peer : peers_) {
      const bool owes_peer = !replication_.send_owed(peer.rank);
      replication_.set_awaited(peer.rank, owes_peer);
      owes = owes || owes_peer;
    }
    if (owes) return;
    for (const Peer& peer : peers_) {
      outbox_.append_record(peer.rank, FrameHeader::of(FrameKind::fresh),
                            FreshRecord{replication_.refreshes().end_part(peer.rank), heard_});
    }
  }
  known_ = heard_;
  learnt_.store(known_.clock, std::memory_order_release);
}

void Levels::notify_neighbours() {
  if (clock_ <= sent_near_.clock && fresh_.clock <= sent_near_.fresh) return;
  sent_near_ = {clock_, fresh_.clock};
  for (const Neighbour& neighbour : neighbours_)
    outbox_.append_record(neighbour.rank, FrameHeader::of(FrameKind::level_near), sent_near_);
}

void Levels::publish() {
  Level least = fresh_.clock;
  for (const Neighbour& neighbour : neighbours_) least = std::min(least, neighbour.reported.fresh);
  domain_fresh_.store(least, std::memory_order_release);
}

void Levels::end_turn() {
  if (!is_used_) return;
  clock_ = std::max(clock_, own_clock());
  // What is learnt may ask for a further cut, and the end of a cut raises what is learnt on the root.
  const auto levels = [this]() LAPSE_REQUIRES(progress_role) {
    return std::array{known_, merged_, fresh_, LevelPair{visible(), wanted_}};
  };
  for (bool rose = true; rose;) {
    const auto before = levels();
    advance_cut();
    report();
    learn();
    rose = levels() != before;
  }
  notify_neighbours();
  publish();
  // A message may have raised one of them before the end of the turn.
  const std::array risen{learnt(), fresh(), visible()};
  if (risen != announced_) registry_.wake_workers();
  if (risen.back() != announced_.back() && risen_) risen_();
  announced_ = risen;
  // The awaited events happen in other modules: a DELTA or an operation is answered, a REFRESH arrives, a
  // lease ends.
  bool waits = is_cutting_ || waits_to_cut_ || heard_.exceeds(known_);
  for (const Peer& peer : peers_) waits = waits || !parts_of_[peer.rank.index()].empty();
  for (std::size_t i = 0; counts_clocks_ && i < registry_.workers_of_phase(); ++i)
    waits = waits || registry_.workers()[i]->level().has_unanswered();
  if (waits) request_end_turn();
}

bool Levels::idle(IdleLevel level) const {
  return level == IdleLevel::answered || !is_used_ ||
         (!is_cutting_ && !waits_to_cut_ && !heard_.exceeds(known_));
}

}  // namespace lapse
