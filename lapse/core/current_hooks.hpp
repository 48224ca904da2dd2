// The hooks that were set last.
#pragma once

#include <memory>

#include "lapse/core/hooks.hpp"

namespace lapse {

// Never null. Any thread.
std::shared_ptr<const Hooks> current_hooks();

}  // namespace lapse
