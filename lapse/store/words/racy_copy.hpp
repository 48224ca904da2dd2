// The one function that reads memory while another thread may write it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace lapse {

namespace detail {

#if defined(__x86_64__)
// A 16-byte load that the compiler can neither repeat nor split. Baseline SSE2: needs no dispatch.
inline __m128i racy_load_16(const std::byte* from) {
  __m128i value;
  asm volatile("movdqu %1, %0" : "=x"(value) : "m"(*reinterpret_cast<const __m128i_u*>(from)));
  return value;
}
#endif

template <class Word>
inline void racy_copy_word(std::byte* to, const std::byte* from) {
  const Word value = __atomic_load_n(reinterpret_cast<const Word*>(from), __ATOMIC_RELAXED);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace detail

// Copies `bytes` (a multiple of 4) from a slot that may change meanwhile. The copy may be torn: the caller
// checks the key's slot word before and after, and discards a torn copy. `from` is aligned to 16 bytes, `to`
// to 4.
inline void racy_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__x86_64__)
  // Hides the destination's size from the compiler, which would reason about loops that do not run.
  asm volatile("" : "+r"(to));
  while (bytes >= 64) {
    const __m128i a = detail::racy_load_16(from);
    const __m128i b = detail::racy_load_16(from + 16);
    const __m128i c = detail::racy_load_16(from + 32);
    const __m128i d = detail::racy_load_16(from + 48);
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to), a);
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to + 16), b);
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to + 32), c);
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to + 48), d);
    from += 64;
    to += 64;
    bytes -= 64;
  }
  while (bytes >= 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to), detail::racy_load_16(from));
    from += 16;
    to += 16;
    bytes -= 16;
  }
#endif
  while (bytes >= 8) {
    detail::racy_copy_word<std::uint64_t>(to, from);
    from += 8;
    to += 8;
    bytes -= 8;
  }
  if (bytes != 0) detail::racy_copy_word<std::uint32_t>(to, from);
}

}  // namespace lapse
