// How all_reduce combines the elements of the workers.
#pragma once

#include <cstdint>

namespace lapse {

enum class Reduce : std::uint8_t { sum, min, max };

}  // namespace lapse
