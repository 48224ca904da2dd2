#include "lapse/protocol/key/run_routes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "lapse/directory/router.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"

namespace lapse {

namespace {
constexpr std::size_t kFew = 4;  // for fewer items, a separate pass for their homes does not pay
}  // namespace

void RunRoutes::begin(const OperationState& operation, std::size_t first, std::size_t most) {
  for (const std::uint32_t place : used_) {
    counts_[place] = {};
    is_used_[place] = 0;
  }
  used_.clear();
  table_ = operation.table;
  RoutesInFlight& in_flight = operation.worker->routes();
  in_flight_ = in_flight.is_alone() ? nullptr : &in_flight;
  first_ = static_cast<std::uint32_t>(first);
  items_ = 0;
  const auto places = 2 * static_cast<std::size_t>(table_->definition().domains.ranks());
  if (is_used_.size() < places) {
    used_.reserve(places);
    counts_.resize(places);
    is_used_.resize(places);
  }
  if (places_.size() < most) places_.resize(most);
  buckets_.clear();
  others_.clear();
}

void RunRoutes::add(std::span<OperationState::Item> items, const Store::Word* const* words) {
  if (in_flight_ == nullptr) return add<Alone::yes>(items, words);
  for (std::size_t i = 0; i < items.size(); ++i) {
    lines_[i] = &in_flight_->line(items[i].key);
    __builtin_prefetch(lines_[i], 1);
  }
  add<Alone::no>(items, words);
}

template <RunRoutes::Alone alone_in_flight>
void RunRoutes::add(std::span<OperationState::Item> items, const Store::Word* const* words) {
  const TableShard& table = *table_;
  const DomainMap& domains = table.definition().domains;
  const bool alone = table.definition().members() == 1;
  const bool all_alone = domains.each_rank_alone();
  const HomeMap& home_map = table.definition().homes;
  const bool few = items.size() < kFew;
  if (!few) {
    for (std::size_t i = 0; i < items.size(); ++i) keys_[i] = items[i].key;
    home_map.homes(std::span(keys_).first(items.size()), homes_.data());
  }
  std::uint32_t* const places = places_.data() + items_;
  Count* const counts = counts_.data();
  std::uint8_t* const is_used = is_used_.data();
  KeyView view;
  view.self = table.self_domain();
  for (std::size_t i = 0; i < items.size(); ++i) {
    OperationState::Item& item = items[i];
    view.home = few ? home_map.home(item.key) : homes_[i];
    if (!table.view_absent(item.key, words[i], alone, view)) {
      leave_to_others(i);
      if (!alone) in_flight_->do_not_follow(*lines_[i], item.key);
      continue;
    }
    const Route route = Router::route_absent(view);
    if constexpr (alone_in_flight == Alone::no) {
      if (!in_flight_->follow(*lines_[i], item.key, route)) [[unlikely]] {
        leave_to_others(i);
        if (!alone) in_flight_->do_not_follow(*lines_[i], item.key);
        continue;
      }
    }
    item.sent_to = route.to;
    item.by_entry = route.is_entry;
    item.set_state(OperationState::ItemState::in_flight);
    const Rank to = all_alone ? domains.rank_alone(route.to) : table.serving_rank(item.key, route.to);
    const auto place = static_cast<std::uint32_t>(2 * to.index() + (route.by_home ? 1 : 0));
    places[i] = place;
    ++counts[place].items[i % Count::kWays];
    if (is_used[place] == 0) {
      is_used[place] = 1;
      used_.push_back(place);
    }
  }
  items_ += static_cast<std::uint32_t>(items.size());
}

void RunRoutes::add_all(std::span<OperationState::Item> items) {
  std::array<Store::Word*, kMaxAtOnce> words;
  for (std::span left = items; !left.empty();) {
    const std::span next = left.first(std::min(kMaxAtOnce, left.size()));
    for (std::size_t i = 0; i < next.size(); ++i) keys_[i] = next[i].key;
    table_->store().find(std::span(keys_).first(next.size()), words.data());
    add(next, words.data());
    left = left.subspan(next.size());
  }
}

void RunRoutes::end(OperationState& operation) {
  const std::size_t before = operation.reordered ? operation.order.size() : first_;
  auto begin = static_cast<std::uint32_t>(before);
  for (const std::uint32_t place : used_) {
    auto& count = counts_[place].items;
    const std::uint32_t end = std::accumulate(std::begin(count), std::end(count), begin);
    buckets_.push_back({Rank(static_cast<std::int32_t>(place / 2)), place % 2 == 1, begin, end});
    count[0] = begin;
    begin = end;
  }
  if (operation.reordered || used_.size() > 1 || !others_.empty()) {
    operation.order.resize(begin);
    if (!operation.reordered)
      std::iota(operation.order.begin(), operation.order.begin() + static_cast<std::ptrdiff_t>(before), 0U);
    operation.reordered = true;
    for (std::uint32_t i = 0; i < items_; ++i) {
      const std::uint32_t place = places_[i];
      if (place != kOther) operation.order[counts_[place].items[0]++] = first_ + i;
    }
  }
}

}  // namespace lapse
