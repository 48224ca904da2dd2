#include "adapm/worker.hpp"

#include <utility>

#include "adapm/worker_intents.hpp"
#include "lapse/ps/worker_core.hpp"

namespace adapm {

Worker::Worker(lapse::Worker& worker, IntentHandle intents)
    : lapse::Worker(worker.core().phase(), worker.core().endpoint()), IntentHandle(std::move(intents)) {}

void Worker::advance_clock() {
  intents().advance_clock();
}

}  // namespace adapm
