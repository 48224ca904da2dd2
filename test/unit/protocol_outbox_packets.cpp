// An outbox that sends in the middle of a turn.
#include <cstring>
#include <vector>

#include "lapse/protocol/host/outbox.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/frame_modules.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

using lapse::FrameHeader;
using lapse::FrameKind;
using lapse::LoopbackNetwork;
using lapse::Outbox;
using lapse::Rank;

namespace {

using Packet = std::vector<std::byte>;

class SmallOutboxPackets final : public lapse::test::BorrowedTransport {
 public:
  using BorrowedTransport::BorrowedTransport;
  std::size_t packet_bytes(Rank to) const override { return to == Rank(2) ? 50 : 100; }
};

// Packets to rank 1 are costly.
class CostlyPackets final : public lapse::test::BorrowedTransport {
 public:
  using BorrowedTransport::BorrowedTransport;
  bool is_costly(Rank to) const override { return to == Rank(1); }
};

FrameHeader header_of(FrameKind kind) {
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  return header;
}

// All packets for a rank, in sending order.
std::vector<Packet> packets_of(LoopbackNetwork& network, Rank to) {
  std::vector<Packet> packets;
  network.endpoint(to).poll(
      [&](Rank, std::span<const std::byte> packet) { packets.emplace_back(packet.begin(), packet.end()); },
      100);
  return packets;
}

FrameHeader first_header(const Packet& packet) {
  FrameHeader header;
  REQUIRE(packet.size() >= sizeof header);
  std::memcpy(&header, packet.data(), sizeof header);
  return header;
}

}  // namespace

TEST_CASE("A packet without room for the next record is sent at once, and in order") {
  LoopbackNetwork network(3, false);
  SmallOutboxPackets transport(network.endpoint(Rank(0)));
  Outbox outbox(transport, lapse::test::all_frames());
  // A header and eight records take 96 bytes.
  constexpr std::uint32_t kInPacket = 8;
  const auto append = [&](std::uint64_t key, Rank to = Rank(1)) {
    outbox.append_record(to, header_of(FrameKind::localize), lapse::LocalizeRecord{key});
  };
  for (std::uint32_t i = 0; i < kInPacket; ++i) append(i);
  append(99, Rank(2));
  CHECK(network.deliverable().empty());
  append(kInPacket);
  CHECK(network.deliverable().size() == 1);
  CHECK(outbox.counters().packets == 1);
  CHECK(outbox.counters().frames == 3);

  // The record that began the new packet can be cancelled, and the packet is reused.
  outbox.cancel();
  CHECK(outbox.counters().frames == 2);
  append(77);
  for (std::uint32_t i = 1; i < kInPacket - 3; ++i) append(77);
  // The header of a frame of another kind does not fit.
  outbox.append_record(Rank(1), header_of(FrameKind::push_answer), lapse::AnswerRecord{5});
  CHECK(outbox.counters().packets == 2);
  outbox.flush();
  CHECK(outbox.empty());
  CHECK(outbox.counters().packets == 4);
  CHECK(outbox.counters().frames == 4);

  const auto packets = packets_of(network, Rank(1));
  REQUIRE(packets.size() == 3);
  CHECK(first_header(packets[0]).count == kInPacket);
  CHECK(packets[0].size() == 96);
  CHECK(first_header(packets[1]).count == kInPacket - 3);
  CHECK(packets[1][sizeof(FrameHeader)] == std::byte{77});
  CHECK(first_header(packets[2]).kind == static_cast<std::uint16_t>(FrameKind::push_answer));
  CHECK(packets_of(network, Rank(2)).size() == 1);
}

TEST_CASE("Packets are as large as suits the way to their rank") {
  LoopbackNetwork network(3, false);
  SmallOutboxPackets transport(network.endpoint(Rank(0)));
  Outbox outbox(transport, lapse::test::all_frames());
  for (const Rank to : {Rank(1), Rank(2)}) {
    for (std::uint64_t key = 0; key < 8; ++key)
      outbox.append_record(to, header_of(FrameKind::localize), lapse::LocalizeRecord{key});
  }
  outbox.flush();
  CHECK(packets_of(network, Rank(1)).size() == 1);
  CHECK(packets_of(network, Rank(2)).size() == 4);
}

TEST_CASE("A record that is larger than a packet has one for itself") {
  LoopbackNetwork network(2, false);
  SmallOutboxPackets transport(network.endpoint(Rank(0)));
  Outbox outbox(transport, lapse::test::all_frames());
  FrameHeader large = header_of(FrameKind::transfer);
  large.record_bytes = 1000;
  for (int i = 0; i < 3; ++i) std::memset(outbox.append(Rank(1), large), i, large.record_bytes);
  CHECK(outbox.counters().packets == 2);
  outbox.flush();
  const auto packets = packets_of(network, Rank(1));
  REQUIRE(packets.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(packets[i].size() == sizeof(FrameHeader) + 1000);
    CHECK(packets[i].back() == static_cast<std::byte>(i));
  }
}

TEST_CASE("Costly packets are gathered while others are in flight, up to a size") {
  LoopbackNetwork network(3, false);
  CostlyPackets transport(network.endpoint(Rank(0)));
  Outbox outbox(transport, lapse::test::all_frames());
  const auto append = [&](Rank to) {
    outbox.append_record(to, header_of(FrameKind::localize), lapse::LocalizeRecord{1});
  };
  const auto records = [&](Rank at) {
    std::vector<std::uint32_t> counts;
    for (const Packet& packet : packets_of(network, at)) counts.push_back(first_header(packet).count);
    return counts;
  };
  for (int i = 0; i < 5; ++i) {
    append(Rank(1));
    append(Rank(2));
    CHECK(outbox.flush_or_gather() == (i >= 2));
  }
  CHECK(records(Rank(1)) == std::vector<std::uint32_t>{1, 1});
  CHECK(records(Rank(2)) == std::vector<std::uint32_t>(5, 1));

  // After an answer, one packet may leave.
  outbox.heard_from(Rank(2));
  CHECK(outbox.flush_or_gather());
  outbox.heard_from(Rank(1));
  CHECK_FALSE(outbox.flush_or_gather());
  CHECK(records(Rank(1)) == std::vector<std::uint32_t>{3});

  append(Rank(1));
  CHECK(outbox.flush_or_gather());
  outbox.flush();
  CHECK(outbox.empty());
  CHECK(records(Rank(1)) == std::vector<std::uint32_t>{1});

  constexpr std::size_t kMany = 16 << 10;
  for (std::size_t i = 0; i < kMany / sizeof(lapse::LocalizeRecord); ++i) append(Rank(1));
  CHECK_FALSE(outbox.flush_or_gather());
}
