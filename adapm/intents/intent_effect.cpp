#include "adapm/intents/intent_effect.hpp"

#include <fmt/format.h>

namespace adapm {

IntentEffect& IntentEffect::operator+=(const IntentEffect& other) {
  intents += other.intents;
  ended += other.ended;
  future |= other.future;
  advanced |= other.advanced;
  return *this;
}

std::string IntentEffect::problem() const {
  if (intents == 0) return {};
  if (ended == intents) {
    return fmt::format(
        "none of the {} intents had an effect: each had ended when it was signaled, as its end was not after "
        "the "
        "clock of its worker (docs/training-with-intents.md)",
        intents);
  }
  if (future && !advanced) {
    return fmt::format(
        "{} intents were signaled, and no worker has called advance_clock: intents for later clocks have no "
        "effect (docs/training-with-intents.md)",
        intents);
  }
  return {};
}

}  // namespace adapm
