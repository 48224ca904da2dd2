// Combines one contribution of each participant and reports the result to every participant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace lapse {

using Bytes = std::vector<std::byte>;

// The pure state machine of one participant. Participants form a binary tree: contributions go up, the result
// comes down. Contributions are combined in tree order, not in order of arrival, so the same contributions
// give the same result.
//
// Guarantee: a participant starts round n+1 only after it has seen the result of round n. So at most one
// contribution of each child is in flight.
class TreeReduction {
 public:
  // Combines `from` into `into`; may throw.
  using Combine = std::function<void(Bytes& into, const Bytes& from)>;

  TreeReduction(std::int32_t participants, std::int32_t self, Combine combine);

  std::optional<std::int32_t> parent() const {
    return self_ == 0 ? std::nullopt : std::optional((self_ - 1) / 2);
  }
  const std::vector<std::int32_t>& children() const { return children_; }

  // Adds this participant's contribution, or a child's. When no contribution is missing, returns the
  // combination: the root's is the result, any other participant's goes to its parent. Throws ProtocolError
  // if a participant contributes twice in a round.
  std::optional<Bytes> contribute(Bytes own);
  std::optional<Bytes> receive(std::int32_t child, Bytes bytes);

 private:
  std::optional<Bytes> combine_if_complete();

  std::int32_t self_;
  std::vector<std::int32_t> children_;
  Combine combine_;
  std::vector<std::optional<Bytes>> missing_;  // own contribution, then one for each child
};

}  // namespace lapse
