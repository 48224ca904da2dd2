// Objects that children made by fork have copies of, and must leave alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse {

// Remembers the process that made an object. A child that fork makes of it has a copy of the object, without
// the threads that it needs, but with the messages, the shared memory and the files that are its parent's.
//
// Thread safety: any thread; constant.
class LAPSE_EXPORT OwnProcess {
 public:
  OwnProcess();

  // Whether the caller is in a child that fork has made since, or in a child of it. Costs a load.
  bool is_left() const { return all_forks_.load(std::memory_order_relaxed) != forks_; }
  // Throws UsageError then. `call`: "save of checkpoints on rank 1".
  void check(std::string_view call) const {
    if (is_left()) [[unlikely]]
      refuse(call);
  }
  [[noreturn]] void refuse(std::string_view call) const;
  // What `refuse` throws: "<call> in process 12, which process 10 has made by fork: …".
  std::string refusal(std::string_view call) const;

 private:
  // The calls of fork that lie between the first process and this one, from the first object on.
  static std::atomic<std::uint64_t> all_forks_;
  std::uint64_t forks_;
  std::int64_t number_;
};

// In such a child: the object stays as it is, as what ends it would wait for threads that are not there, or
// touch what its parent uses.
LAPSE_EXPORT void leave_to_parent(void* object);
template <class T>
void leave_to_parent(std::unique_ptr<T>& object) {
  leave_to_parent(static_cast<void*>(object.release()));
}

}  // namespace lapse
