#include "lapse/io/vocabulary/id_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse::io {

namespace {

constexpr std::size_t kFirstIdSlots = 16;

}  // namespace

IdIndex::Index IdIndex::add(std::uint64_t id) {
  if (last_ < ids_.size() && ids_[last_] == id) return last_;
  if ((ids_.size() + 1) * 4 > slots_.size() * 3) fill_slots();
  Index& slot = slots_[slot_of(id)];
  if (slot == kFree) {
    if (ids_.size() == kMaxIds) throw UsageError(fmt::format("more than {} different ids", kMaxIds));
    ids_.push_back(id);
    slot = static_cast<Index>(ids_.size() - 1);
  }
  last_ = slot;
  return slot;
}

std::vector<IdIndex::Index> IdIndex::sort() {
  std::vector<Index> new_index(ids_.size());
  std::iota(new_index.begin(), new_index.end(), Index{0});
  if (std::is_sorted(ids_.begin(), ids_.end())) return new_index;
  std::vector<std::pair<std::uint64_t, Index>> order;
  order.reserve(ids_.size());
  for (const Index index : new_index) order.emplace_back(ids_[index], index);
  slots_ = {};
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ids_[i] = order[i].first;
    new_index[order[i].second] = static_cast<Index>(i);
  }
  return new_index;
}

// Multiplication by 2^64 divided by the golden ratio spreads runs of numbers evenly over the upper bits.
std::size_t IdIndex::slot_of(std::uint64_t id) const {
  const std::size_t mask = slots_.size() - 1;
  const auto spread = (id ^ (id >> 32U)) * 0x9e3779b97f4a7c15U;
  for (std::size_t i = spread >> (64 - std::bit_width(mask));; i = (i + 1) & mask) {
    if (slots_[i] == kFree || ids_[slots_[i]] == id) return i;
  }
}

void IdIndex::fill_slots() {
  slots_.assign(std::bit_ceil(std::max(kFirstIdSlots, 2 * (ids_.size() + 1))), kFree);
  for (std::size_t i = 0; i < ids_.size(); ++i) slots_[slot_of(ids_[i])] = static_cast<Index>(i);
}

}  // namespace lapse::io
