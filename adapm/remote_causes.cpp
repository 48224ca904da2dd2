#include "adapm/remote_causes.hpp"

#include <algorithm>
#include <numeric>

namespace adapm {

std::uint64_t RemoteCauses::sum() const {
  return std::accumulate(keys.begin(), keys.end(), std::uint64_t{0});
}

const RemoteCauseName& RemoteCauses::largest() const {
  return kRemoteCauses[static_cast<std::size_t>(std::ranges::max_element(keys) - keys.begin())];
}

}  // namespace adapm
