#include "lapse/core/own_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/fork_hook.hpp"

namespace lapse {

OwnProcess::OwnProcess() : forks_(ForkHook::forks()), number_(getpid()) {}

bool OwnProcess::is_left() const {
  return ForkHook::forks() != forks_;
}

void OwnProcess::refuse(std::string_view call) const {
  throw UsageError(refusal(call));
}

std::string OwnProcess::refusal(std::string_view call) const {
  return fmt::format(
      "{} in process {}, a child made by fork: only process {}, which has made the object, can use it; a "
      "child "
      "may compute, exec and _exit",
      call, getpid(), number_);
}

void leave_to_parent(void* object) {
  // They stay reachable: tools that look for lost memory find them.
  static auto& left = *std::make_unique<std::vector<void*>>().release();
  left.push_back(object);
}

}  // namespace lapse
