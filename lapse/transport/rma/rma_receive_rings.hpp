// Bulk packets that senders put into the receiver's memory: an optional capability of a transport.
#pragma once

#include <cstdint>
#include <string>

namespace lapse {

// Decided once, alike on all ranks, when the transport is made. Thread safety: one thread at a time.
class RmaReceiveRings {
 public:
  // The decision and its reason, for the log.
  struct Report {
    bool problem = false;  // differs from what the options ask
    std::string text;      // empty: nothing to report
  };

  virtual const Report& report() const = 0;
  // Packets of the bulk lane that have arrived through a ring and been handled.
  virtual std::uint64_t received_packets() const = 0;

 protected:
  ~RmaReceiveRings() = default;
};

}  // namespace lapse
