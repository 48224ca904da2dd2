#include "lapse/checkpoint/checksum_avx2.hpp"

// Functions of the checksum library, compiled for these processors. Includes nothing else that could be
// inlined: the linker might use it for other files, and so for other processors.
#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

namespace lapse {

std::uint64_t checksum_avx2(const void* const* pieces, const std::size_t* bytes, std::size_t count) {
  if (count == 1) return XXH3_64bits(pieces[0], bytes[0]);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (std::size_t i = 0; i < count; ++i) XXH3_64bits_update(&state, pieces[i], bytes[i]);
  return XXH3_64bits_digest(&state);
}

}  // namespace lapse
