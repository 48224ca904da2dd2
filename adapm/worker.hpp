// A thread's access to the tables of a parameter manager.
#pragma once

#include <memory>

#include "adapm/intent_handle.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {
struct RoundRequest;
}

namespace adapm {

// A worker of the server with a clock and intents: pull, push and everything else as there. Access to a key
// works with and without intent, whatever the manager does meanwhile.
// Given to each function that ParameterManager::run_workers starts; used by that thread alone, until it
// returns, but for the calls of IntentHandle.
class Worker : public lapse::Worker, public IntentHandle {
 public:
  // In place of `worker`, which is not used as long as the object lives.
  Worker(lapse::Worker& worker, IntentHandle intents);
  ~Worker();

  // The worker begins its next batch, say. Raises the clock and, where no other thread drives the engine and
  // the limit of rounds allows it, begins a round of communication. Waits for no message. Throws PeerFailed.
  void advance_clock();

  // For a thread that loads data for this worker; to be used until this worker returns.
  IntentHandle loader() const { return *this; }

 private:
  std::unique_ptr<lapse::RoundRequest> round_;  // null where there are no rounds
};

}  // namespace adapm
