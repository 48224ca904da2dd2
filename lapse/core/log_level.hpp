// How urgent a message is.
#pragma once

#include <cstdint>
#include <string_view>

namespace lapse {

// From the most to the least urgent.
enum class LogLevel : std::uint8_t { error, warning, info, debug };

std::string_view to_string(LogLevel level);

}  // namespace lapse
