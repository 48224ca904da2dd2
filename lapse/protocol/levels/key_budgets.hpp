// At the home of keys: which changes some copies may lack, of all workers together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Grants changes of keys so that the magnitudes of those that are outstanding, which some copy may lack, add
// up to at most a bound for each key. A larger one is granted alone. A key's reservations are granted in the
// order of their arrival. A pure state machine.
//
// Thread safety: the holder of the progress lock.
class KeyBudgets {
 public:
  struct Reservation {
    Rank from;
    std::uint64_t number = 0;  // of `from`
    double magnitude = 0;
    double bound = 0;
  };

  // Returns whether it is granted now. Otherwise `release` grants it later. Throws std::bad_alloc, and has no
  // effect then.
  bool reserve(TableId table, Key key, const Reservation& reservation) {
    Budget& budget = of(table)[key.value()];
    if (budget.waiting.empty() && budget.admits(reservation)) {
      budget.add(reservation);
      return true;
    }
    budget.waiting.push_back(reservation);
    ++waiting_;
    return false;
  }

  // All copies show `grants` of the granted changes of a rank, of this magnitude in all. Calls
  // grant(reservation) for each that is granted now. Throws ProtocolError if fewer are outstanding.
  template <class F>
  void release(TableId table, Key key, Rank from, double magnitude, std::uint64_t grants, F&& grant) {
    auto& budgets = of(table);
    const auto found = budgets.find(key.value());
    if (found == budgets.end() || !found->second.remove(from, magnitude, grants))
      throw ProtocolError("a release of changes that are not outstanding");
    Budget& budget = found->second;
    while (!budget.waiting.empty() && budget.admits(budget.waiting.front())) {
      const Reservation next = budget.waiting.front();
      budget.waiting.pop_front();
      --waiting_;
      budget.add(next);
      grant(next);
    }
    if (budget.grants == 0) budgets.erase(found);
  }

  // Calls f(rank) for each rank with granted changes of the key that are not released.
  template <class F>
  void for_each_holder(TableId table, Key key, F&& f) {
    const auto found = of(table).find(key.value());
    if (found == of(table).end()) return;
    for (const auto& [rank, grants] : found->second.holders)
      if (grants > 0) f(rank);
  }
  // Reservations of the key that are not granted.
  std::size_t waiting(TableId table, Key key) const;

  // Reservations that are not granted.
  std::size_t waiting() const { return waiting_; }
  // Of the granted changes of the key, which are not released.
  double outstanding(TableId table, Key key) const;
  void clear();

 private:
  struct Budget {
    double sum = 0;
    std::uint64_t grants = 0;
    std::vector<std::pair<Rank, std::uint64_t>> holders;  // and their grants, possibly none
    std::deque<Reservation> waiting;

    bool admits(const Reservation& next) const { return grants == 0 || sum + next.magnitude <= next.bound; }
    void add(const Reservation& granted) {
      const auto found = std::ranges::find(holders, granted.from, &std::pair<Rank, std::uint64_t>::first);
      if (found == holders.end())
        holders.emplace_back(granted.from, 1);
      else
        ++found->second;
      sum += granted.magnitude;
      ++grants;
    }
    bool remove(Rank from, double magnitude, std::uint64_t released) {
      const auto found = std::ranges::find(holders, from, &std::pair<Rank, std::uint64_t>::first);
      if (found == holders.end() || found->second < released) return false;
      found->second -= released;
      grants -= released;
      // Exact again, also behind an infinite one, which is alone.
      sum = grants == 0 ? 0 : sum - magnitude;
      return true;
    }
  };
  using Budgets = std::unordered_map<std::uint64_t, Budget>;

  Budgets& of(TableId table) {
    if (tables_.size() <= table.index()) tables_.resize(table.index() + 1);
    return tables_[table.index()];
  }

  std::vector<Budgets> tables_;  // only keys with outstanding changes
  std::size_t waiting_ = 0;
};

}  // namespace lapse
