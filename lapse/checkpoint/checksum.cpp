#include "lapse/checkpoint/checksum.hpp"

#include <xxhash.h>

namespace lapse {

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace lapse
