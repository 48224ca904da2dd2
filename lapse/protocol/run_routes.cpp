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

void RunRoutes::prepare(std::size_t ranks) {
  if (counts_.size() < 2 * ranks) counts_.resize(2 * ranks);
  used_.clear();
  buckets_.clear();
  others_.clear();
}

void RunRoutes::choose(OperationState& operation, std::size_t first) {
  TableShard& table = *operation.table;
  const Store& store = table.store();
  const bool sparse = store.is_sparse();
  const bool alone = table.definition().members() == 1;
  const std::size_t items = operation.items.size();
  prepare(static_cast<std::size_t>(table.definition().domains.ranks()));
  if (places_.size() < items - first) places_.resize(items - first);
  KeyView view;
  view.self = table.self_domain();
  for (std::size_t i = first; i < items; ++i) {
    if (sparse && i + kFarAhead < items) store.prefetch_far(operation.items[i + kFarAhead].key);
    if (i + kWordsAhead < items) store.prefetch_word(operation.items[i + kWordsAhead].key);
    OperationState::Item& item = operation.items[i];
    if (item.entry != nullptr || !table.view_absent(item.key, alone, view)) {
      places_[i - first] = kOther;
      others_.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const Route route = Router::route_absent(view);
    item.sent_to = route.to;
    item.by_entry = route.is_entry;
    const std::size_t to = table.serving_rank(item.key, route.to).index();
    const auto place = static_cast<std::uint32_t>(2 * to + (route.by_home ? 1 : 0));
    places_[i - first] = place;
    if (counts_[place]++ == 0) used_.push_back(place);
  }
  const std::size_t before = operation.reordered ? operation.order.size() : first;
  auto begin = static_cast<std::uint32_t>(before);
  for (const std::uint32_t place : used_) {
    const std::uint32_t end = begin + counts_[place];
    buckets_.push_back({Rank(static_cast<std::int32_t>(place / 2)), place % 2 == 1, begin, end});
    counts_[place] = begin;
    begin = end;
  }
  if (operation.reordered || used_.size() > 1 || !others_.empty()) {
    operation.order.resize(begin);
    if (!operation.reordered)
      std::iota(operation.order.begin(), operation.order.begin() + static_cast<std::ptrdiff_t>(before), 0U);
    operation.reordered = true;
    for (std::size_t i = first; i < items; ++i) {
      const std::uint32_t place = places_[i - first];
      if (place != kOther) operation.order[counts_[place]++] = static_cast<std::uint32_t>(i);
    }
  }
  for (const std::uint32_t place : used_) counts_[place] = 0;
}

}  // namespace lapse
