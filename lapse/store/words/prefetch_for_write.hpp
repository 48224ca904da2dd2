// Fetches a cache line that will be written.
#pragma once

namespace lapse {

// The line comes as the own one at once, rather than shared first. Any address is harmless. The compiler's
// prefetch for writing needs an option for the instruction, which processors without it skip.
inline void prefetch_for_write(const void* address) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace lapse
