#include "lapse/ps/stalls/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lapse {

ProcessState Peers::state(Rank rank) const {
  if (peers_.empty()) return ProcessState::unknown;
  if (rank == self_) return ProcessState::runs;
  if (rank.index() >= peers_.size() || hosts_[rank.index()] != hosts_[self_.index()])
    return ProcessState::unknown;
  return peers_[rank.index()].process.state();
}

std::string Peers::name(Rank rank) const {
  if (rank.index() >= peers_.size()) return fmt::format("rank {}", rank.value());
  const Peer& peer = peers_[rank.index()];
  return fmt::format("rank {}, process {} on {}", rank.value(), peer.process.number, peer.host);
}

std::vector<Rank> Peers::halted(const std::vector<Rank>& ranks) const {
  std::vector<Rank> found;
  std::ranges::copy_if(ranks, std::back_inserter(found), [this](Rank rank) { return is_halted(rank); });
  return found;
}

std::vector<Rank> Peers::halted() const {
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank)
    ranks.emplace_back(static_cast<std::int32_t>(rank));
  return halted(ranks);
}

}  // namespace lapse
