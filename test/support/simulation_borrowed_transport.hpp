// A transport that a simulated network owns, for a server that wants to own its transport.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "lapse/transport/transport.hpp"

namespace lapse::test {

// Forwards every call to `transport`, which outlives it.
class BorrowedTransport : public Transport {
 public:
  explicit BorrowedTransport(Transport& transport) : transport_(transport) {}

  Rank rank() const override { return transport_.rank(); }
  std::int32_t ranks() const override { return transport_.ranks(); }
  std::int32_t host_ranks() const override { return transport_.host_ranks(); }
  std::string host_name() const override { return transport_.host_name(); }
  std::vector<std::int32_t> hosts() const override { return transport_.hosts(); }
  Job job() const override { return transport_.job(); }
  SharedMemory* shared_memory() override { return transport_.shared_memory(); }
  RemoteReads* remote_reads() override { return transport_.remote_reads(); }
  RmaReceiveRings* rma_receive_rings() override { return transport_.rma_receive_rings(); }
  Doorbell* doorbell() override { return transport_.doorbell(); }
  bool has_separate_bulk_lane() const override { return transport_.has_separate_bulk_lane(); }
  void send(Rank to, PacketBuffer packet, Lane lane) override {
    transport_.send(to, std::move(packet), lane);
  }
  std::size_t packet_bytes(Rank to) const override { return transport_.packet_bytes(to); }
  bool is_costly(Rank to) const override { return transport_.is_costly(to); }
  PacketBuffer acquire_buffer() override { return transport_.acquire_buffer(); }
  std::size_t poll(const Handler& handler, std::size_t limit) override {
    return transport_.poll(handler, limit);
  }
  bool idle() const override { return transport_.idle(); }
  bool waits_for_room() const override { return transport_.waits_for_room(); }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine,
                                                 GatherWatch* watch = nullptr) override {
    return transport_.all_gather(mine, watch);
  }
  void throw_if_ended(const char* call) const override { transport_.throw_if_ended(call); }
  void close(GatherWatch* watch = nullptr) override { transport_.close(watch); }
  [[noreturn]] void abort(const std::string& reason) override {
    transport_.abort(reason);
    std::abort();  // The compiler does not deduce that virtual functions never return.
  }

 private:
  Transport& transport_;
};

}  // namespace lapse::test
