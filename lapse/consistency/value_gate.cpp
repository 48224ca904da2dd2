#include "lapse/consistency/value_gate.hpp"

#include <algorithm>

namespace lapse {

double ValueGate::unsynced(Key key) const {
  const auto sum_in = [key](const Sums& sums) {
    const auto found = sums.find(key.value());
    return found == sums.end() ? 0.0 : found->second;
  };
  double sum = sum_in(unanswered_);
  for (const Open& open : open_) sum += sum_in(open.sums);
  return sum;
}

void ValueGate::answered(Key key, std::optional<Level> need) {
  const auto found = unanswered_.find(key.value());
  if (found == unanswered_.end()) return;
  if (need) {
    Open& open = this->open(*need);
    if (open.need != *need) {
      open.sums.clear();
      open.need = *need;
    }
    open.sums[key.value()] += found->second;
  }
  unanswered_.erase(found);
}

void ValueGate::raise(Level visible) {
  for (Open& open : open_)
    if (open.need <= visible) open.sums.clear();
}

void ValueGate::clear() {
  unanswered_.clear();
  for (Open& open : open_) open.sums.clear();
}

std::optional<Level> ValueGate::need(Key key) const {
  std::optional<Level> highest;
  for (const Open& open : open_)
    if (open.sums.contains(key.value())) highest = std::max(highest.value_or(open.need), open.need);
  return highest;
}

}  // namespace lapse
