// A worker's leases in a random workload.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/ps/access/lease_taker.hpp"
#include "lapse/ps/worker.hpp"
#include "test/support/random_workload_client.hpp"

namespace lapse::test {

// Takes a lease of keys of several tables, reads and changes them, and releases them. Used by one thread.
class LeasePlay {
 public:
  enum class Waiting {
    blocks,  // calls Worker::lease; for threads
    steps,   // proceeds step by step; for simulations, which must not block
  };
  struct Part {
    TableClient* client;
    std::vector<Key> keys;
  };

  // A deliberate fault: the holder asks for one more key.
  using WrongCall = std::function<std::unique_ptr<PendingCall>(Key)>;

  // `wrong_call`: for the fault only. The call is made under a lease, and waited for.
  LeasePlay(Worker& worker, Waiting waiting, WrongCall wrong_call = {})
      : worker_(worker), waiting_(waiting), wrong_call_(std::move(wrong_call)) {}
  // Releases a held lease without waiting: a simulation that has failed is over.
  ~LeasePlay();
  LeasePlay(const LeasePlay&) = delete;
  LeasePlay& operator=(const LeasePlay&) = delete;

  void begin(std::vector<Part> parts, std::size_t touches);
  // Whether a lease is being taken, held or released.
  bool active() const { return stage_ != Stage::none; }
  // Whether step() would make progress. With Waiting::blocks it may be called at any time.
  bool may_step() const;
  // Takes the next step and returns its description. Throws HistoryViolation.
  std::string step(RandomEngine& random);

 private:
  enum class Stage { none, taking, held, releasing };

  std::vector<LeaseKeys> lease_keys() const;
  // Returns true if the lease is held; false if it continues, or was refused.
  bool take();
  bool expects_refusal(const Error& error) const;
  std::string touch(RandomEngine& random);
  std::string release();
  void end();

  Worker& worker_;
  const Waiting waiting_;
  const WrongCall wrong_call_;
  Stage stage_ = Stage::none;
  std::vector<Part> parts_;
  std::size_t touches_ = 0;
  std::optional<LeaseTaker> taker_;
  std::optional<Lease> lease_;
  std::unique_ptr<PendingCall> wrong_;  // of the fault: the call that is waited for
};

}  // namespace lapse::test
