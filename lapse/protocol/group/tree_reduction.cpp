#include "lapse/protocol/group/tree_reduction.hpp"

#include <algorithm>

#include "lapse/core/error.hpp"

namespace lapse {

TreeReduction::TreeReduction(std::int32_t participants, std::int32_t self, Combine combine)
    : self_(self), combine_(std::move(combine)) {
  for (std::int32_t child = 2 * self + 1; child <= 2 * self + 2 && child < participants; ++child) {
    children_.push_back(child);
  }
  missing_.resize(1 + children_.size());
}

std::optional<Bytes> TreeReduction::contribute(Bytes own) {
  if (missing_[0]) throw ProtocolError("a second contribution to one collective call");
  missing_[0] = std::move(own);
  return combine_if_complete();
}

std::optional<Bytes> TreeReduction::receive(std::int32_t child, Bytes bytes) {
  const auto found = std::find(children_.begin(), children_.end(), child);
  if (found == children_.end())
    throw ProtocolError("a contribution from a rank that is no child in the tree");
  std::optional<Bytes>& slot = missing_[1 + static_cast<std::size_t>(found - children_.begin())];
  if (slot) throw ProtocolError("a second contribution of one rank to one collective call");
  slot = std::move(bytes);
  return combine_if_complete();
}

std::optional<Bytes> TreeReduction::combine_if_complete() {
  if (!std::all_of(missing_.begin(), missing_.end(), [](const auto& one) { return one.has_value(); })) {
    return std::nullopt;
  }
  Bytes result = std::move(*missing_[0]);
  for (std::size_t i = 1; i < missing_.size(); ++i) combine_(result, *missing_[i]);
  for (auto& one : missing_) one.reset();
  return result;
}

}  // namespace lapse
