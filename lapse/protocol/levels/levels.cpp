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

template <class Record>
Record level_record(const FrameHeader& header, const std::byte* records, std::uint32_t at) {
  return record_of<Record>(header, records, at, "a message about levels has a wrong length");
}

// Returns the level of a message.
Level checked(Level level, Level most) {
  if (level < 1 || level > most) throw ProtocolError(fmt::format("a message carries level {}", level));
  return level;
}

}  // namespace

void Levels::start() {
  least_bound_ = least_bound_of_copies_ = kUnbounded;
  is_used_ = false;
  for (const auto& table : registry_.tables()) {
    if (!table->definition().clock_bound) continue;
    is_used_ = true;
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
  clock_ = merged_ = fresh_ = sent_up_ = heard_ = marked_ = passed_on_ = 0;
  is_cutting_ = waits_to_cut_ = false;
  sent_near_ = {};
  learnt_.store(0, std::memory_order_relaxed);
  domain_fresh_.store(0, std::memory_order_relaxed);
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
        tree_.set_child(from, checked(level_record<LevelRecord>(header, records, i).level, kEndedLevel));
        break;
      case FrameKind::level_down:
        if (tree_.parent() != from) throw ProtocolError("a level from a rank that is not the parent");
        heard_ =
            std::max(heard_, checked(level_record<LevelRecord>(header, records, i).level, kEndedLevel - 1));
        break;
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

Level Levels::complete_level() {
  if (peers_.empty()) return learnt();
  Level least = kEndedLevel;
  for (Peer& peer : peers_) {
    std::deque<Promise>& promises = parts_of_[peer.rank.index()];
    const std::uint64_t complete = replication_.refreshes().complete(peer.rank);
    std::erase_if(promises, [&](const Promise& promise) {
      if (promise.part >= complete) return false;
      peer.fresh = std::max(peer.fresh, promise.level);
      return true;
    });
    least = std::min(least, peer.fresh);
  }
  return least;
}

bool Levels::wants_cut() {
  return clock_of_domain() > merged_ || complete_level() > fresh_;
}

// --- the steps of a turn

void Levels::advance_cut() {
  for (;;) {
    if (is_cutting_) {
      if (!replication_.is_cut_merged()) return;
      if (replication_.end_cut()) repeat_end_turn();
      is_cutting_ = false;
      merged_ = cut_clock_;
      fresh_ = cut_fresh_;
    }
    waits_to_cut_ = wants_cut();
    if (!waits_to_cut_) return;
    // The clocks that were read before the marks are taken, not newer ones.
    cut_clock_ = std::max(merged_, clock_of_domain());
    cut_fresh_ = std::max(fresh_, complete_level());
    if (!replication_.begin_cut(kUser, now())) return;
    waits_to_cut_ = false;
    is_cutting_ = true;
  }
}

void Levels::report() {
  tree_.set_own(merged_);
  const Level least = tree_.minimum();
  if (const auto parent = tree_.parent()) {
    if (least > sent_up_)
      outbox_.append_record(*parent, FrameHeader::of(FrameKind::level_up), LevelRecord{least});
    sent_up_ = std::max(sent_up_, least);
  } else if (least != kEndedLevel) {
    // Of a phase that ends, nothing is passed on: its quiescence merges and refreshes all.
    heard_ = std::max(heard_, least);
  }
  if (heard_ <= passed_on_) return;
  passed_on_ = heard_;
  tree_.for_each_child(registry_.ranks(), [this](Rank child) {
    progress_role.assert_held();  // Called in place.
    outbox_.append_record(child, FrameHeader::of(FrameKind::level_down), LevelRecord{heard_});
  });
}

void Levels::learn() {
  if (heard_ <= learnt()) return;
  if (!peers_.empty()) {
    // Once for each level: what is changed later is not owed for it.
    if (std::exchange(marked_, heard_) < heard_) replication_.send_changes(now());
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
  learnt_.store(heard_, std::memory_order_release);
}

void Levels::notify_neighbours() {
  if (clock_ <= sent_near_.clock && fresh_ <= sent_near_.fresh) return;
  sent_near_ = {clock_, fresh_};
  for (const Neighbour& neighbour : neighbours_)
    outbox_.append_record(neighbour.rank, FrameHeader::of(FrameKind::level_near), sent_near_);
}

void Levels::publish() {
  Level least = fresh_;
  for (const Neighbour& neighbour : neighbours_) least = std::min(least, neighbour.reported.fresh);
  domain_fresh_.store(least, std::memory_order_release);
}

void Levels::end_turn() {
  if (!is_used_) return;
  const Level learnt_before = learnt();
  const Level fresh_before = fresh();
  clock_ = std::max(clock_, own_clock());
  // What is learnt may ask for a further cut, and the end of a cut raises what is learnt on the root.
  const auto levels = [this]() LAPSE_REQUIRES(progress_role) {
    return std::array{learnt(), merged_, fresh_};
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
  if (learnt() > learnt_before || fresh() > fresh_before) registry_.wake_workers();
  // The awaited events happen in other modules: a DELTA or an operation is answered, a REFRESH arrives, a
  // lease ends.
  bool waits = is_cutting_ || waits_to_cut_ || heard_ > learnt();
  for (const Peer& peer : peers_) waits = waits || !parts_of_[peer.rank.index()].empty();
  for (std::size_t i = 0; i < registry_.workers_of_phase(); ++i)
    waits = waits || registry_.workers()[i]->level().has_unanswered();
  if (waits) request_end_turn();
}

bool Levels::idle(IdleLevel level) const {
  return level == IdleLevel::answered || !is_used_ || (!is_cutting_ && !waits_to_cut_ && heard_ <= learnt());
}

}  // namespace lapse
