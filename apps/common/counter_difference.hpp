// Counters of an interval.
#pragma once

#include "lapse/core/statistics/counters.hpp"

namespace lapse::apps {

// Subtracts field by field, for TableCounters and RankCounters. Maxima have no difference: keeps the later
// one.
template <class Counters>
Counters counter_difference(const Counters& later, const Counters& earlier) {
  Counters difference = later;
  for (const CounterField<Counters>& field : counter_fields<Counters>()) {
    if (field.merge == CounterMerge::sum) difference.*field.member -= earlier.*field.member;
  }
  return difference;
}

}  // namespace lapse::apps
