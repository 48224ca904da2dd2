// Which threads of a process may enter the transport.
#pragma once

#include <cstdint>

namespace lapse {

enum class ThreadSupport : std::uint8_t {
  single,      // there is one thread (MPI_THREAD_SINGLE): it is the only worker
  funneled,    // the thread that made the server (MPI_THREAD_FUNNELED)
  serialized,  // any thread, one at a time (MPI_THREAD_SERIALIZED and above)
};

}  // namespace lapse
