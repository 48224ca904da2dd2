// Up to which size messages reach their receiver at once.
#pragma once

#include <cstddef>
#include <optional>

namespace lapse {

// The largest message, in bytes, that reaches its receiver without further help of the sender, in memory of
// the host and by TCP, as far as the MPI library has them and reports it. May be called once MPI is
// initialised, by the holder of the MPI lock.
std::optional<std::size_t> eager_message_bytes();
// The same by TCP alone.
std::optional<std::size_t> eager_network_bytes();

}  // namespace lapse
