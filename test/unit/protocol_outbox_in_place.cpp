// An outbox on a transport that sends from its own memory.
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "lapse/protocol/host/outbox.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/simulation_borrowed_transport.hpp"
#include "test/unit/protocol_outbox_packets.hpp"

using lapse::FrameHeader;
using lapse::FrameKind;
using lapse::LoopbackNetwork;
using lapse::Outbox;
using lapse::PacketBuffer;
using lapse::Rank;
using lapse::Transport;
using lapse::test::BorrowedTransport;
using lapse::test::delivered;
using lapse::test::header;
using lapse::test::header_at;

namespace {

class InPlaceTransport final : public BorrowedTransport {
 public:
  using BorrowedTransport::BorrowedTransport;

  std::size_t room = 0;  // space of the next packets
  std::size_t copies = 0;
  std::vector<std::size_t> begun;  // requested bytes

  bool owns(const std::byte* memory) const {
    return memory >= memory_.data() && memory < memory_.data() + memory_.size();
  }
  PacketBuffer begin_packet(Rank, Lane, std::size_t bytes) override {
    begun.push_back(bytes);
    return bytes <= room ? PacketBuffer::in_place(memory_.data(), room) : PacketBuffer();
  }
  void send(Rank to, PacketBuffer packet, Lane lane) override {
    if (!owns(packet.data())) ++copies;
    PacketBuffer copy;
    copy.append(packet.bytes());
    BorrowedTransport::send(to, std::move(copy), lane);
  }

 private:
  alignas(PacketBuffer::kAlignment) std::array<std::byte, 100'000> memory_;
};

constexpr std::uint32_t kRecordBytes = 4008;

FrameHeader push_run() {
  FrameHeader run = header(FrameKind::push_run);
  run.record_bytes = kRecordBytes;
  return run;
}

}  // namespace

TEST_CASE("Large records are written where the transport sends from, small ones are copied") {
  LoopbackNetwork network(2, false);
  InPlaceTransport transport(network.endpoint(Rank(0)));
  Outbox outbox(transport, lapse::test::all_frames());
  transport.room = 50'000;
  const Outbox::Run run = outbox.append_run(Rank(1), push_run(), 10);
  REQUIRE(run.count == 10);
  REQUIRE(transport.owns(run.records));
  std::memset(run.records, 7, run.count * kRecordBytes);
  // After them, in the same packet.
  outbox.append_record(Rank(1), header(FrameKind::localize), lapse::LocalizeRecord{5});
  outbox.flush();
  CHECK(transport.copies == 0);
  REQUIRE(transport.begun.size() == 1);
  CHECK(transport.begun[0] >= sizeof(FrameHeader) + 10 * kRecordBytes);
  outbox.append_record(Rank(1), header(FrameKind::localize), lapse::LocalizeRecord{5});
  outbox.flush();
  CHECK(transport.copies == 1);
  CHECK(transport.begun.size() == 1);
  const auto packets = delivered(network, Rank(1));
  REQUIRE(packets.size() == 2);
  CHECK(header_at(packets[0], 0).count == 10);
  CHECK(packets[0][sizeof(FrameHeader) + 10 * kRecordBytes - 1] == std::byte{7});
  CHECK(header_at(packets[0], sizeof(FrameHeader) + 10 * kRecordBytes).count == 1);
}

TEST_CASE("A packet ends where the transport's memory ends") {
  LoopbackNetwork network(2, false);
  InPlaceTransport transport(network.endpoint(Rank(0)));
  Outbox outbox(transport, lapse::test::all_frames());
  transport.room = 10'000;
  for (int i = 0; i < 5; ++i) std::memset(outbox.append(Rank(1), push_run()), i, kRecordBytes);
  outbox.flush();
  CHECK(transport.copies == 0);
  const auto packets = delivered(network, Rank(1));
  REQUIRE(packets.size() == 3);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(packets[i / 2][sizeof(FrameHeader) + i % 2 * kRecordBytes] == static_cast<std::byte>(i));
  }
  // If the buffer is too small for the known records, the packet is copied, and may have the full size.
  const Outbox::Run run = outbox.append_run(Rank(1), push_run(), 100);
  CHECK(run.count == (transport.packet_bytes(Rank(1)) - sizeof(FrameHeader)) / kRecordBytes);
  CHECK_FALSE(transport.owns(run.records));
  outbox.cancel(run.count);
  outbox.flush();
  CHECK(delivered(network, Rank(1)).empty());
}

TEST_CASE("Memory of the transport whose records were rolled back is used by the next turn") {
  LoopbackNetwork network(2, false);
  InPlaceTransport transport(network.endpoint(Rank(0)));
  Outbox outbox(transport, lapse::test::all_frames());
  transport.room = 10'000;
  outbox.append(Rank(1), push_run());
  outbox.cancel();
  outbox.flush();
  CHECK(delivered(network, Rank(1)).empty());
  outbox.append_record(Rank(1), header(FrameKind::localize), lapse::LocalizeRecord{5});
  // The packet outgrows the buffer and is copied.
  FrameHeader large = header(FrameKind::transfer);
  large.record_bytes = 20'000;
  std::memset(outbox.append(Rank(1), large), 9, large.record_bytes);
  outbox.flush();
  CHECK(transport.copies == 1);
  CHECK(transport.begun.size() == 2);
  const auto packets = delivered(network, Rank(1));
  REQUIRE(packets.size() == 2);
  CHECK(packets[0].size() == sizeof(FrameHeader) + sizeof(lapse::LocalizeRecord));
  CHECK(packets[1].back() == std::byte{9});
}
