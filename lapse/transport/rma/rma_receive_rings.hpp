// Bulk packets that senders put into memory of the receiver: a capability of some transports beside messages.
#pragma once

#include <cstdint>
#include <string>

namespace lapse {

// Decided once, when the transport is made, alike on all ranks. Thread safety: one thread at a time.
class RmaReceiveRings {
 public:
  // What was decided and why, for the log.
  struct Report {
    bool problem = false;  // not as the options ask
    std::string text;      // empty: nothing to report
  };

  virtual const Report& report() const = 0;
  // Packets of the bulk lane that have come through a ring and have been handled.
  virtual std::uint64_t received_packets() const = 0;

 protected:
  ~RmaReceiveRings() = default;
};

}  // namespace lapse
