#include "adapm/worker.hpp"

#include <utility>

#include "adapm/worker_intents.hpp"
#include "lapse/ps/worker_core.hpp"

namespace adapm {

Worker::Worker(lapse::Worker& worker, IntentHandle intents)
    : lapse::Worker(worker.core().phase(), worker.core().endpoint()), IntentHandle(std::move(intents)) {
  if (!wants_keys(technique())) return;
  round_ = std::make_unique<lapse::RoundRequest>();
  round_->handler = &core().phase().protocol.replication();
}

Worker::~Worker() = default;

void Worker::advance_clock() {
  core().check_failure();
  intents().advance_clock();
  if (round_ != nullptr) core().help(*round_);
}

}  // namespace adapm
