// What a worker is doing, as other threads and ranks see it.
#pragma once

#include <cstdint>

namespace lapse {

enum class WorkerActivity : std::uint32_t {
  application,  // runs code of the application, or a call that does not wait for the engine
  operations,   // waits for answers, arrivals or leases
  collective,   // waits for other workers
  returned,     // from its function
  detached,     // no thread of the application uses its slot
  clock,        // waits until slower workers have reached a clock
};

}  // namespace lapse
