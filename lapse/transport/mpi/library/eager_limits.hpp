// The size up to which messages reach their receiver at once.
#pragma once

#include <cstddef>
#include <optional>

namespace lapse {

// The largest message, in bytes, that reaches its receiver without further help of the sender, both through
// host memory and by TCP, as far as the MPI library reports it. Requires the MPI lock and that MPI is
// initialised.
std::optional<std::size_t> eager_message_bytes();
// Like eager_message_bytes, for TCP alone.
std::optional<std::size_t> eager_network_bytes();

}  // namespace lapse
