#include "apps/viewer/key_history.hpp"

#include <algorithm>
#include <utility>

#include "apps/viewer/optimum.hpp"
#include "lapse/core/tracing/allocation_records.hpp"

namespace lapse::apps {

namespace {

// Events of one key after those of another, each in the order of time.
template <class Event>
std::vector<Event> by_key(const std::vector<Event>& events) {
  std::vector<Event> sorted = events;
  std::ranges::stable_sort(sorted, {}, &Event::key);
  return sorted;
}

// Removes the events of the first key from `rest`, which are ordered by key, if it is this key.
template <class Event>
std::span<const Event> take(std::span<const Event>& rest, std::uint64_t key) {
  const auto end = std::ranges::find_if(rest, [key](const Event& event) { return event.key != key; });
  const auto taken = rest.first(static_cast<std::size_t>(end - rest.begin()));
  rest = rest.subspan(taken.size());
  return taken;
}

// Follows what ran.
class Replay {
 public:
  explicit Replay(const std::vector<Rounds>& rounds) : rounds_(rounds), domains_(rounds.size()) {}

  void change(const KeyChange& change) {
    end_rounds(change.time);
    Domain& domain = domains_[index(change.domain)];
    const bool had_copy = std::exchange(domain.has_copy, (change.state & kTraceCopy) != 0);
    const bool was_owner = owner_ == change.domain;
    if ((change.state & kTraceOwner) != 0) {
      domain.delta_since = kNever;  // merged where it is
      domain.lacks_since = kNever;
      if (owner_ != kNone && !was_owner) {
        ++work_.moves;
        refresh_holders();  // Before the key leaves.
      }
      owner_ = change.domain;
    } else if (domain.has_copy && !had_copy) {
      // An owner that gives the key away may keep a replica.
      if (!was_owner) ++work_.set_ups;
      domain.lacks_since = kNever;
    } else if (!domain.has_copy && had_copy) {
      ++work_.drops;
      send_delta(change.domain, change.time);
      domain.lacks_since = kNever;
    }
  }

  void access(const KeyAccess& access) {
    end_rounds(access.time);
    const bool writes = (access.kind & kTraceWrites) != 0;
    Domain& domain = domains_[index(access.domain)];
    if ((access.kind & kTraceRemote) != 0) {
      ++(writes ? work_.writes : work_.reads);
    } else if (domain.has_copy) {
      if (writes) domain.delta_since = std::min(domain.delta_since, access.time);
      return;
    }
    if (writes) changed(access.time);
  }

  const AllocationWork& work() const { return work_; }

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::int64_t kNever = Rounds::kNever;
  struct Domain {
    bool has_copy = false;
    std::int64_t delta_since = kNever;  // changes that the owner lacks
    std::int64_t lacks_since = kNever;  // changes of the owner
  };
  static std::size_t index(std::int32_t domain) { return static_cast<std::size_t>(domain); }

  // The main copy has changes that replicas lack; also that of a domain which has sent them, as the owner
  // sends all holders its new version.
  void changed(std::int64_t time) {
    for (Domain& holder : domains_)
      if (holder.has_copy) holder.lacks_since = std::min(holder.lacks_since, time);
  }
  void refresh_holders() {
    for (Domain& holder : domains_)
      if (std::exchange(holder.lacks_since, kNever) != kNever) ++work_.refreshes;
  }
  void send_delta(std::int32_t from, std::int64_t time) {
    if (std::exchange(domains_[index(from)].delta_since, kNever) == kNever) return;
    ++work_.deltas;
    changed(time);
  }
  // Sends what rounds up to a time send, in their order.
  void end_rounds(std::int64_t time) {
    for (;;) {
      std::int64_t first = kNever;
      std::size_t sender = 0;
      std::int64_t lacks_since = kNever;
      for (std::size_t i = 0; i < domains_.size(); ++i) {
        lacks_since = std::min(lacks_since, domains_[i].lacks_since);
        const std::int64_t end = rounds_[i].after(domains_[i].delta_since);
        if (end < first) sender = i;
        first = std::min(first, end);
      }
      const std::int64_t refreshes = owner_ != kNone ? rounds_[index(owner_)].after(lacks_since) : kNever;
      if (std::min(first, refreshes) > time) return;
      if (first < refreshes) {
        send_delta(static_cast<std::int32_t>(sender), first);
        continue;
      }
      refresh_holders();
    }
  }

  const std::vector<Rounds>& rounds_;
  std::vector<Domain> domains_;
  std::int32_t owner_ = kNone;
  AllocationWork work_;
};

}  // namespace

void for_each_history(const TableAllocation& table, const std::function<void(const KeyHistory&)>& on) {
  const std::vector<KeyChange> sorted_changes = by_key(table.changes);
  const std::vector<KeyAccess> sorted_accesses = by_key(table.accesses);
  std::span<const KeyChange> changes(sorted_changes);
  std::span<const KeyAccess> accesses(sorted_accesses);
  while (!changes.empty() || !accesses.empty()) {
    KeyHistory history;
    history.key = accesses.empty()  ? changes.front().key
                  : changes.empty() ? accesses.front().key
                                    : std::min(changes.front().key, accesses.front().key);
    history.changes = take(changes, history.key);
    history.accesses = take(accesses, history.key);
    const auto owned = std::ranges::find_if(
        history.changes, [](const KeyChange& change) { return (change.state & kTraceOwner) != 0; });
    history.first_owner = owned != history.changes.end() ? owned->domain
                          : !history.accesses.empty()    ? history.accesses.front().domain
                                                         : history.changes.front().domain;
    on(history);
  }
}

std::int64_t Rounds::after(std::int64_t time) const {
  constexpr std::int64_t kUsualRound = 1'000'000;
  if (time == kNever) return kNever;
  if (times_.empty()) return (time / kUsualRound + 1) * kUsualRound;
  const auto next = std::ranges::upper_bound(times_, time);
  return next != times_.end() ? *next : kNever;
}

AllocationWork work_of(const KeyHistory& history, const std::vector<Rounds>& rounds) {
  Replay replay(rounds);
  auto change = history.changes.begin();
  for (const KeyAccess& access : history.accesses) {
    for (; change != history.changes.end() && change->time <= access.time; ++change) replay.change(*change);
    replay.access(access);
  }
  for (; change != history.changes.end(); ++change) replay.change(*change);
  return replay.work();
}

}  // namespace lapse::apps
