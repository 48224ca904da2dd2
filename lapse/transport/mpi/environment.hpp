// Settings of the MPI library, made before it starts, and its limits, read afterwards.
#pragma once

#include <cstddef>
#include <optional>

#include "lapse/core/export.hpp"

namespace lapse {

// Sets where unset what the MPI library of this process works best with; call it before MPI_Init. Nothing is
// set for libraries other than Open MPI.
//   OMPI_MCA_osc=^rdma                      up to version 4: windows that work with MPI_THREAD_SERIALIZED,
//                                           within hosts and between them
//   OMPI_MCA_btl_vader_eager_limit=32768    (btl_sm_eager_limit from version 5 on) messages of up to 32712
//                                           bytes between the ranks of a host need no further help of the
//                                           sender
// Not safe while other threads read or change the environment.
LAPSE_EXPORT void prepare_mpi_environment();

// The largest message, in bytes, that reaches its receiver without further help of the sender, in memory of
// the host and by TCP, as far as the MPI library has them and reports it. May be called once MPI is
// initialised, by the holder of the MPI lock.
LAPSE_EXPORT std::optional<std::size_t> eager_message_bytes();
// The same by TCP alone.
LAPSE_EXPORT std::optional<std::size_t> eager_network_bytes();

}  // namespace lapse
