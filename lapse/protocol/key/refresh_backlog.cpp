#include "lapse/protocol/key/refresh_backlog.hpp"

namespace lapse {

void RefreshBacklog::add(Rank to, TableId table, std::uint32_t number) {
  OfRank& rank = of_[to.index()];
  const std::size_t index = table.value();
  if (rank.of_table.size() <= index) rank.of_table.resize(index + 1);
  NumberSet& numbers = rank.of_table[index];
  if (numbers.has(number)) return;
  numbers.add(number);
  ++rank.mains;
  ++waiting_;
}

void RefreshBacklog::remove(TableId table, std::uint32_t number) {
  if (waiting_ == 0) return;
  const std::size_t index = table.value();
  for (OfRank& rank : of_) {
    if (rank.of_table.size() <= index || !rank.of_table[index].has(number)) continue;
    rank.of_table[index].remove(number);
    --rank.mains;
    --waiting_;
  }
}

std::optional<RefreshBacklog::Main> RefreshBacklog::take(Rank to) {
  OfRank& rank = of_[to.index()];
  if (rank.mains == 0) return std::nullopt;
  for (;;) {
    if (rank.table >= rank.of_table.size()) rank.table = 0;
    NumberSet& numbers = rank.of_table[rank.table];
    if (const auto number = numbers.next(rank.number)) {
      numbers.remove(*number);
      --rank.mains;
      --waiting_;
      rank.number = *number + 1;
      return Main{TableId(static_cast<std::uint32_t>(rank.table)), *number};
    }
    ++rank.table;
    rank.number = 0;
  }
}

bool RefreshBacklog::park(Rank to, Key key, Parked parked) {
  OfRank& rank = of_[to.index()];
  const std::pair place{parked.header.table, key.value()};
  if (const auto found = rank.parked.find(place); found != rank.parked.end()) {
    found->second.record = std::move(parked.record);
    return false;
  }
  rank.parked.emplace(place, std::move(parked));
  ++waiting_;
  return true;
}

RefreshBacklog::Parked RefreshBacklog::take_parked(Rank to) {
  auto& parked = of_[to.index()].parked;
  Parked first = std::move(parked.begin()->second);
  parked.erase(parked.begin());
  --waiting_;
  return first;
}

}  // namespace lapse
