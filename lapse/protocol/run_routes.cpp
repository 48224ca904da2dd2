#include "lapse/protocol/run_routes.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "lapse/directory/router.hpp"

namespace lapse {

namespace {

constexpr std::uint32_t kOther = 0xffff'ffffU;
constexpr std::size_t kFarAhead = 24;
constexpr std::size_t kWordsAhead = 12;

}  // namespace

void RunRoutes::prepare(std::size_t ranks, std::size_t items) {
  for (const std::uint32_t place : used_) {
    counts_[place] = {};
    is_used_[place] = 0;
  }
  used_.clear();
  if (is_used_.size() < 2 * ranks) {
    used_.reserve(2 * ranks);
    counts_.resize(2 * ranks);
    is_used_.resize(2 * ranks);
  }
  if (places_.size() < items) places_.resize(items);
  buckets_.clear();
  others_.clear();
}

void RunRoutes::choose(OperationState& operation, std::size_t first) {
  const TableShard& table = *operation.table;
  const Store& store = table.store();
  const DomainMap& domains = table.definition().domains;
  const bool sparse = store.is_sparse();
  const bool alone = table.definition().members() == 1;
  const bool all_alone = domains.each_rank_alone();
  const std::size_t items = operation.items.size() - first;
  prepare(static_cast<std::size_t>(domains.ranks()), items);
  OperationState::Item* const item_at = operation.items.data() + first;
  std::uint32_t* const places = places_.data();
  Count* const counts = counts_.data();
  std::uint8_t* const is_used = is_used_.data();
  KeyView view;
  view.self = table.self_domain();
  for (std::size_t i = 0; i < items; ++i) {
    if (sparse && i + kFarAhead < items) store.prefetch_far(item_at[i + kFarAhead].key);
    if (i + kWordsAhead < items) store.prefetch_word(item_at[i + kWordsAhead].key);
    OperationState::Item& item = item_at[i];
    if (item.entry != nullptr || !table.view_absent(item.key, alone, view)) {
      places[i] = kOther;
      others_.push_back(static_cast<std::uint32_t>(first + i));
      continue;
    }
    const Route route = Router::route_absent(view);
    item.sent_to = route.to;
    item.by_entry = route.is_entry;
    const Rank to = all_alone ? domains.rank_alone(route.to) : table.serving_rank(item.key, route.to);
    const auto place = static_cast<std::uint32_t>(2 * to.index() + (route.by_home ? 1 : 0));
    places[i] = place;
    ++counts[place].items[i % 2];
    if (is_used[place] == 0) {
      is_used[place] = 1;
      used_.push_back(place);
    }
  }
  make_buckets(operation, first);
}

void RunRoutes::make_buckets(OperationState& operation, std::size_t first) {
  const std::size_t before = operation.reordered ? operation.order.size() : first;
  auto begin = static_cast<std::uint32_t>(before);
  for (const std::uint32_t place : used_) {
    auto& [next, odd] = counts_[place].items;
    const std::uint32_t end = begin + next + odd;
    buckets_.push_back({Rank(static_cast<std::int32_t>(place / 2)), place % 2 == 1, begin, end});
    next = begin;
    begin = end;
  }
  if (operation.reordered || used_.size() > 1 || !others_.empty()) {
    operation.order.resize(begin);
    if (!operation.reordered)
      std::iota(operation.order.begin(), operation.order.begin() + static_cast<std::ptrdiff_t>(before), 0U);
    operation.reordered = true;
    for (std::size_t i = first; i < operation.items.size(); ++i) {
      const std::uint32_t place = places_[i - first];
      if (place != kOther) operation.order[counts_[place].items[0]++] = static_cast<std::uint32_t>(i);
    }
  }
}

}  // namespace lapse
