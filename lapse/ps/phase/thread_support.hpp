// The threads of a process that may enter the transport.
#pragma once

#include <cstdint>

namespace lapse {

enum class ThreadSupport : std::uint8_t {
  single,      // the only thread (MPI_THREAD_SINGLE), which is the only worker
  funneled,    // the thread that made the server (MPI_THREAD_FUNNELED)
  serialized,  // any thread, one at a time (MPI_THREAD_SERIALIZED and above)
};

}  // namespace lapse
