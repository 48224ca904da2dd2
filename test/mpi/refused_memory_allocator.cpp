// The program's allocator. In a file of its own, so that the compiler does not inline parts of it.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "test/mpi/refused_memory.hpp"

namespace lapse::test {

thread_local std::size_t allocations_left = 0;
thread_local bool all_refused = false;

}  // namespace lapse::test

// The program's allocator: NOLINTBEGIN(cppcoreguidelines-no-malloc)
void* operator new(std::size_t bytes) {
  std::size_t& left = lapse::test::allocations_left;
  if (lapse::test::all_refused || (left > 0 && --left == 0)) throw std::bad_alloc();
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  void* memory = nullptr;
  if (lapse::test::all_refused || posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
// NOLINTEND(cppcoreguidelines-no-malloc)
