// Settings of the MPI library, made before it starts.
#pragma once

#include "lapse/core/export.hpp"

namespace lapse {

// Sets those environment variables, where unset, that suit this process's MPI library; call it before
// MPI_Init. Sets nothing for libraries other than Open MPI.
//   OMPI_MCA_osc=^rdma                      up to version 4: windows that work with MPI_THREAD_SERIALIZED,
//                                           within hosts and between them
//   OMPI_MCA_btl_vader_eager_limit=32768    (btl_sm_eager_limit from version 5 on) messages of up to 32712
//                                           bytes between the ranks of a host need no further help of the
//                                           sender
// Not safe while other threads read or change the environment.
LAPSE_EXPORT void prepare_mpi_environment();

}  // namespace lapse
