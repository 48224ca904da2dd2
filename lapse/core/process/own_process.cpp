#include "lapse/core/process/own_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/process/fork_hook.hpp"

namespace lapse {

std::atomic<std::uint64_t> OwnProcess::all_forks_{0};

OwnProcess::OwnProcess() : number_(getpid()) {
  // Lives until the process ends.
  static const auto count = [](void*) noexcept { all_forks_.fetch_add(1, std::memory_order_relaxed); };
  [[maybe_unused]] static const auto& hook = *std::make_unique<ForkHook>(count, nullptr).release();
  forks_ = all_forks_.load(std::memory_order_relaxed);
}

void OwnProcess::refuse(std::string_view call) const {
  throw UsageError(refusal(call));
}

std::string OwnProcess::refusal(std::string_view call) const {
  return fmt::format(
      "{} in process {}, a child made by fork: only process {}, which made the object, can use it; a child "
      "may compute, exec and _exit",
      call, getpid(), number_);
}

void leave_to_parent(void* object) {
  // Keeps them reachable: leak checkers would report them otherwise.
  static auto& left = *std::make_unique<std::vector<void*>>().release();
  left.push_back(object);
}

}  // namespace lapse
