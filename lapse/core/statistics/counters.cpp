#include "lapse/core/statistics/counters.hpp"

#include <algorithm>

namespace lapse {

namespace {
template <class Counters>
void merge(Counters& counters, const Counters& other) {
  for (const auto& field : counter_fields<Counters>()) {
    std::uint64_t& value = counters.*field.member;
    value = field.merge == CounterMerge::maximum ? std::max(value, other.*field.member)
                                                 : value + other.*field.member;
  }
}
}  // namespace

TableCounters& TableCounters::operator+=(const TableCounters& other) {
  merge(*this, other);
  return *this;
}

RankCounters& RankCounters::operator+=(const RankCounters& other) {
  merge(*this, other);
  return *this;
}

}  // namespace lapse
