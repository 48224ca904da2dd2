// A program whose allocator refuses memory when a test asks for it.
#pragma once

#include <cstddef>
#include <utility>

#include "test/support/simulation_borrowed_transport.hpp"

namespace lapse::test {

// The number of allocations of this thread until one fails; 0: none fails.
extern thread_local std::size_t allocations_left;
// All allocations of this thread fail, including memory for packets.
extern thread_local bool all_refused;

// Grants its thread all memory while it lives.
class Granted {
 public:
  Granted() = default;
  ~Granted() { allocations_left = before_; }
  Granted(const Granted&) = delete;
  Granted& operator=(const Granted&) = delete;

 private:
  std::size_t before_ = std::exchange(allocations_left, 0);
};

// A worker that calls the server may also receive packets of other ranks, and how many are in flight varies.
// Memory for them is granted, so that only the worker's own call is refused memory.
class GrantedTransport final : public BorrowedTransport {
 public:
  explicit GrantedTransport(Transport& transport) : BorrowedTransport(transport), transport_(transport) {}

  std::size_t poll(const Handler& handler, std::size_t limit) override LAPSE_REQUIRES(progress_role) {
    const Granted granted;
    return transport_.poll(handler, limit);
  }
  void send(Rank to, PacketBuffer packet, Lane lane) override LAPSE_REQUIRES(progress_role) {
    const Granted granted;
    transport_.send(to, std::move(packet), lane);
  }
  PacketBuffer acquire_buffer() override LAPSE_REQUIRES(progress_role) {
    const Granted granted;
    return transport_.acquire_buffer();
  }
  PacketBuffer begin_packet(Rank to, Lane lane, std::size_t bytes) override LAPSE_REQUIRES(progress_role) {
    const Granted granted;
    return transport_.begin_packet(to, lane, bytes);
  }

 private:
  Transport& transport_;
};

}  // namespace lapse::test
