#include "io/id_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse::io {

namespace {

constexpr std::size_t kFirstSlots = 16;

}  // namespace

IdIndex::Index IdIndex::add(std::uint64_t id) {
  if (last_ < ids_.size() && ids_[last_] == id) return last_;
  if ((ids_.size() + 1) * 4 > slots_.size() * 3) fill_slots(std::max(kFirstSlots, slots_.size() * 2));
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
  std::vector<Index> order(ids_.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (std::is_sorted(ids_.begin(), ids_.end())) return order;
  std::sort(order.begin(), order.end(), [this](Index a, Index b) { return ids_[a] < ids_[b]; });
  std::vector<std::uint64_t> sorted(ids_.size());
  std::vector<Index> new_index(ids_.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted[i] = ids_[order[i]];
    new_index[order[i]] = static_cast<Index>(i);
  }
  ids_ = std::move(sorted);
  fill_slots(slots_.size());
  last_ = 0;
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

void IdIndex::fill_slots(std::size_t slots) {
  slots_.assign(slots, kFree);
  for (std::size_t i = 0; i < ids_.size(); ++i) slots_[slot_of(ids_[i])] = static_cast<Index>(i);
}

}  // namespace lapse::io
