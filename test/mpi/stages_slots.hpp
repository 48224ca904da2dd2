// Slots of the ranks in tests of stages.
#pragma once

#include <cstdint>

#include "lapse/core/types.hpp"
#include "lapse/stage/engine.hpp"

namespace lapse::test {

// 0 to 4 slots; rank 0 has the first number.
inline std::int32_t slots_of(Rank rank, std::int32_t ranks, std::int32_t first) {
  if (ranks == 1) return first == 0 ? 4 : first;
  return (first + 3 * rank.value()) % 5;
}

inline std::int32_t all_slots_of(std::int32_t ranks, std::int32_t first) {
  std::int32_t all = 0;
  for (std::int32_t rank = 0; rank < ranks; ++rank) all += slots_of(Rank(rank), ranks, first);
  return all;
}

inline stage::EngineOptions engine_options(const ParameterServer& server, std::int32_t first) {
  stage::EngineOptions options;
  options.slots = slots_of(server.rank(), server.ranks(), first);
  return options;
}

}  // namespace lapse::test
