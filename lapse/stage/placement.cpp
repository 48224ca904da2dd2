#include "lapse/stage/placement.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace lapse::stage {

namespace {

using Ranks = std::vector<std::size_t>;

// A rank or a domain.
struct Candidate {
  Ranks ranks;
  std::size_t free = 0;
  std::uint64_t last_use = 0;
};

bool has_data(const PlacementRequest& request, std::size_t rank) {
  return rank < request.data_bytes.size() && request.data_bytes[rank] > 0;
}

// The ranks that may get workers, and whether they are those with data.
struct Eligible {
  Ranks ranks;
  bool with_data = false;
};

Eligible eligible_ranks(const PlacementRequest& request, std::span<const RankCapacity> ranks) {
  Eligible all;
  Eligible data{.ranks = {}, .with_data = true};
  std::size_t slots = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].slots == 0) continue;
    all.ranks.push_back(rank);
    if (!has_data(request, rank)) continue;
    data.ranks.push_back(rank);
    slots += ranks[rank].slots;
  }
  return !data.ranks.empty() && slots >= request.workers ? data : all;
}

bool is_better(const Candidate& a, const Candidate& b, bool with_data) {
  const std::uint64_t old_a = with_data ? a.last_use : ~a.last_use;
  const std::uint64_t old_b = with_data ? b.last_use : ~b.last_use;
  return std::tuple(old_a, ~a.free, a.ranks.front()) < std::tuple(old_b, ~b.free, b.ranks.front());
}

// Gives each rank workers in proportion to its weight, up to its free slots, by the method of d'Hondt.
std::vector<Place> share(const PlacementRequest& request, std::span<const RankCapacity> ranks,
                         const Ranks& chosen) {
  const bool weighted =
      std::any_of(chosen.begin(), chosen.end(), [&](std::size_t rank) { return has_data(request, rank); });
  struct Claim {
    double quotient;
    std::size_t rank;
    // The queue's first has the highest quotient, then the lowest rank.
    bool operator<(const Claim& other) const {
      return std::tuple(-quotient, rank) > std::tuple(-other.quotient, other.rank);
    }
  };
  std::vector<std::int32_t> given(ranks.size());
  const auto claim = [&](std::size_t rank) {
    const double weight = weighted ? (has_data(request, rank) ? double(request.data_bytes[rank]) : 0.0)
                                   : double(ranks[rank].free);
    return Claim{.quotient = weight / (given[rank] + 1), .rank = rank};
  };
  std::priority_queue<Claim> claims;
  for (const std::size_t rank : chosen)
    if (ranks[rank].free > 0) claims.push(claim(rank));
  for (std::size_t worker = 0; worker < request.workers; ++worker) {
    const std::size_t rank = claims.top().rank;
    claims.pop();
    ++given[rank];
    if (static_cast<std::size_t>(given[rank]) < ranks[rank].free) claims.push(claim(rank));
  }
  std::vector<Place> places;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (given[rank] > 0) places.push_back({.rank = static_cast<std::int32_t>(rank), .workers = given[rank]});
  return places;
}

// The best of those with enough free slots; null if there is none.
const Candidate* best_of(const std::vector<Candidate>& candidates, std::size_t workers, bool with_data) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates)
    if (candidate.free >= workers && (best == nullptr || is_better(candidate, *best, with_data)))
      best = &candidate;
  return best;
}

}  // namespace

void PlacementHistory::use(std::span<const Place> places) {
  std::vector<std::int32_t> ranks;
  ++uses_;
  for (const Place& place : places) {
    ranks.push_back(place.rank);
    last_use_[place.rank] = uses_;
  }
  stayed_ = ranks == ranks_ ? stayed_ + 1 : 1;
  ranks_ = std::move(ranks);
}

std::uint64_t PlacementHistory::last_use(std::int32_t rank) const {
  const auto found = last_use_.find(rank);
  return found == last_use_.end() ? 0 : found->second;
}

std::optional<std::vector<Place>> place(const PlacementRequest& request,
                                        std::span<const RankCapacity> ranks) {
  const Eligible eligible = eligible_ranks(request, ranks);
  std::vector<Candidate> single;
  std::map<std::int32_t, Candidate> by_domain;
  for (const std::size_t rank : eligible.ranks) {
    const std::uint64_t last_use = request.history.last_use(static_cast<std::int32_t>(rank));
    single.push_back({.ranks = {rank}, .free = ranks[rank].free, .last_use = last_use});
    Candidate& domain = by_domain[ranks[rank].domain];
    domain.ranks.push_back(rank);
    domain.free += ranks[rank].free;
    domain.last_use = std::max(domain.last_use, last_use);
  }
  const bool rotates = eligible.with_data && !request.stay;
  if (const Candidate* const rank = best_of(single, request.workers, rotates))
    return share(request, ranks, rank->ranks);
  std::vector<Candidate> domains;
  domains.reserve(by_domain.size());
  for (auto& [number, domain] : by_domain) domains.push_back(std::move(domain));
  if (const Candidate* const domain = best_of(domains, request.workers, rotates))
    return share(request, ranks, domain->ranks);
  std::stable_sort(domains.begin(), domains.end(),
                   [](const Candidate& a, const Candidate& b) { return a.free > b.free; });
  Ranks chosen;
  std::size_t free = 0;
  for (const Candidate& domain : domains) {
    if (free >= request.workers) break;
    chosen.insert(chosen.end(), domain.ranks.begin(), domain.ranks.end());
    free += domain.free;
  }
  if (free < request.workers) return std::nullopt;
  return share(request, ranks, chosen);
}

}  // namespace lapse::stage
