#include "lapse/checkpoint/checksum.hpp"

#include <xxhash.h>

#include <memory>
#include <new>
#include <vector>

#ifdef LAPSE_CHECKSUM_AVX2
#include "lapse/checkpoint/checksum_avx2.hpp"
#endif

namespace lapse {

namespace {

#ifdef LAPSE_CHECKSUM_AVX2
bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) {
#ifdef LAPSE_CHECKSUM_AVX2
  if (has_avx2()) {
    const void* const piece = bytes.data();
    const std::size_t size = bytes.size();
    return checksum_avx2(&piece, &size, 1);
  }
#endif
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t checksum(std::span<const std::span<const std::byte>> pieces) {
#ifdef LAPSE_CHECKSUM_AVX2
  if (has_avx2()) {
    std::vector<const void*> begins;
    std::vector<std::size_t> sizes;
    for (const std::span<const std::byte> piece : pieces) {
      begins.push_back(piece.data());
      sizes.push_back(piece.size());
    }
    return checksum_avx2(begins.data(), sizes.data(), pieces.size());
  }
#endif
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  for (const std::span<const std::byte> piece : pieces)
    XXH3_64bits_update(state.get(), piece.data(), piece.size());
  return XXH3_64bits_digest(state.get());
}

}  // namespace lapse
