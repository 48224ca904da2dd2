// Detects objects that a child made by fork has copied and must leave alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse {

// Remembers the process that made an object. A child made by fork has a copy of the object, without the
// threads that it needs, but with its parent's messages, shared memory and files.
//
// Thread safety: any thread; constant.
class LAPSE_EXPORT OwnProcess {
 public:
  OwnProcess();

  // Whether the caller is in a child made by fork since, or in a descendant of one. Costs a load.
  bool is_left() const { return all_forks_.load(std::memory_order_relaxed) != forks_; }
  // Throws UsageError if is_left(). `call`: "save of checkpoints on rank 1".
  void check(std::string_view call) const {
    if (is_left()) [[unlikely]]
      refuse(call);
  }
  [[noreturn]] void refuse(std::string_view call) const;
  // The message of `refuse`: "<call> in process 12, which process 10 has made by fork: …".
  std::string refusal(std::string_view call) const;

 private:
  // The number of fork calls between the first process and this one, since the first object.
  static std::atomic<std::uint64_t> all_forks_;
  std::uint64_t forks_;
  std::int64_t number_;
};

// In a child made by fork, leaks the object, because its destructor would wait for threads that do not exist,
// or touch what its parent uses.
LAPSE_EXPORT void leave_to_parent(void* object);
template <class T>
void leave_to_parent(std::unique_ptr<T>& object) {
  leave_to_parent(static_cast<void*>(object.release()));
}

}  // namespace lapse
