#include "lapse/ps/phase/crowding.hpp"

#include <algorithm>

namespace lapse {

bool is_crowded(std::span<const RankLoad> loads, std::span<const std::int32_t> hosts, std::size_t self,
                std::size_t hardware_threads) {
  std::size_t workers = 0;
  for (std::size_t rank = 0; rank < loads.size(); ++rank) {
    if (hosts[rank] == hosts[self] && loads[rank].binding == loads[self].binding)
      workers += std::max<std::size_t>(1, loads[rank].workers);
  }
  return workers > hardware_threads;
}

}  // namespace lapse
