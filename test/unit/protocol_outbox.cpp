#include "lapse/protocol/host/outbox.hpp"

#include <cstring>
#include <vector>

#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_outbox_packets.hpp"

using lapse::FrameHeader;
using lapse::FrameKind;
using lapse::LoopbackNetwork;
using lapse::Outbox;
using lapse::Rank;
using lapse::Transport;
using lapse::test::delivered;
using lapse::test::header;
using lapse::test::header_at;
using lapse::test::Packet;

TEST_CASE("A frame header is laid out as drawn") {
  static_assert(offsetof(FrameHeader, kind) == 0);
  static_assert(offsetof(FrameHeader, flags) == 2);
  static_assert(offsetof(FrameHeader, table) == 4);
  static_assert(offsetof(FrameHeader, count) == 8);
  static_assert(offsetof(FrameHeader, record_bytes) == 12);
  static_assert(offsetof(FrameHeader, origin) == 16);
  static_assert(offsetof(FrameHeader, domain) == 20);
  static_assert(offsetof(FrameHeader, operation) == 24);
  SUCCEED();
}

TEST_CASE("Records with equal headers share a frame, and everything for one rank a packet") {
  LoopbackNetwork network(3, false);
  Outbox outbox(network.endpoint(Rank(0)), lapse::test::all_frames());
  CHECK(outbox.empty());
  for (std::uint32_t i = 0; i < 3; ++i) {
    outbox.append_record(Rank(1), header(FrameKind::localize), lapse::LocalizeRecord{i});
  }
  outbox.append_record(Rank(2), header(FrameKind::localize), lapse::LocalizeRecord{9});
  outbox.append_record(Rank(1), header(FrameKind::push_answer, 5), lapse::AnswerRecord{77});
  outbox.append_record(Rank(1), header(FrameKind::localize), lapse::LocalizeRecord{3});
  CHECK_FALSE(outbox.empty());
  CHECK(network.deliverable().empty());
  outbox.flush();
  CHECK(outbox.empty());
  CHECK(outbox.counters().packets == 2);
  CHECK(outbox.counters().frames == 4);

  const auto to_1 = delivered(network, Rank(1));
  REQUIRE(to_1.size() == 1);
  const Packet& packet = to_1[0];
  // Three localize records, one answer of 4 bytes that is padded to 8, one localize record.
  REQUIRE(packet.size() == 3 * sizeof(FrameHeader) + 3 * 8 + 8 + 8);
  CHECK(header_at(packet, 0).count == 3);
  CHECK(header_at(packet, 0).record_bytes == 8);
  CHECK(header_at(packet, 56).count == 1);
  CHECK(header_at(packet, 56).operation == 5);
  CHECK(packet[92] == std::byte{0});
  CHECK(packet[95] == std::byte{0});
  CHECK(header_at(packet, 96).count == 1);
  CHECK(packet[128] == std::byte{3});
  CHECK(outbox.counters().bytes == packet.size() + sizeof(FrameHeader) + 8);
  CHECK(delivered(network, Rank(2)).size() == 1);
  const auto kind = [&](FrameKind which) { return outbox.counters().kinds[static_cast<std::size_t>(which)]; };
  CHECK(kind(FrameKind::localize).frames == 3);
  CHECK(kind(FrameKind::localize).records == 5);
  CHECK(kind(FrameKind::push_answer).records == 1);
  CHECK(kind(FrameKind::localize).bytes + kind(FrameKind::push_answer).bytes == outbox.counters().bytes);
}

TEST_CASE("Records whose headers differ in anything but the count begin a frame of their own") {
  const FrameHeader base = header(FrameKind::pull, 1, 1);
  std::vector<FrameHeader> others(7, base);
  others[0].kind = static_cast<std::uint16_t>(FrameKind::push);
  others[1].flags = FrameHeader::kByHome;
  others[2].table = 2;
  others[3].record_bytes = 24;
  others[4].origin = 1;
  others[5].domain = 1;
  others[6].operation = 2;
  for (const FrameHeader& other : others) {
    LoopbackNetwork network(2, false);
    Outbox outbox(network.endpoint(Rank(0)), lapse::test::all_frames());
    outbox.append(Rank(1), base);
    outbox.append(Rank(1), other);
    CHECK(outbox.counters().frames == 2);
    outbox.append(Rank(1), other);
    CHECK(outbox.counters().frames == 2);
  }
}

TEST_CASE("Frames of termination detection are not counted") {
  LoopbackNetwork network(2, false);
  Outbox outbox(network.endpoint(Rank(0)), lapse::test::all_frames());
  outbox.append(Rank(1), header(FrameKind::wave_up));
  outbox.append(Rank(1), header(FrameKind::wave_down));
  outbox.flush();
  CHECK(outbox.counters().frames == 0);
  CHECK(outbox.counters().packets == 1);
}

TEST_CASE("A record may have no bytes; a rank may send to itself") {
  LoopbackNetwork network(1, false);
  Outbox outbox(network.endpoint(Rank(0)), lapse::test::all_frames());
  outbox.append(Rank(0), header(FrameKind::poison));
  outbox.flush();
  const auto packets = delivered(network, Rank(0));
  REQUIRE(packets.size() == 1);
  CHECK(packets[0].size() == sizeof(FrameHeader));
  CHECK(header_at(packets[0], 0).count == 1);
}

TEST_CASE("Values and answers take the bulk lane where there is one, everything else keeps the order") {
  LoopbackNetwork network(2, true);
  Outbox outbox(network.endpoint(Rank(0)), lapse::test::all_frames());
  const std::vector<FrameKind> bulk{FrameKind::transfer, FrameKind::pull_answer, FrameKind::push_answer};
  const std::vector<FrameKind> ordered{FrameKind::pull,     FrameKind::push,        FrameKind::set,
                                       FrameKind::localize, FrameKind::instruct,    FrameKind::workers_up,
                                       FrameKind::poison,   FrameKind::workers_down};
  for (const FrameKind kind : bulk) outbox.append(Rank(1), header(kind));
  for (const FrameKind kind : ordered) outbox.append(Rank(1), header(kind));
  outbox.flush();
  const auto bulk_packets = delivered(network, Rank(1), Transport::Lane::bulk);
  const auto ordered_packets = delivered(network, Rank(1));
  REQUIRE(bulk_packets.size() == 1);
  REQUIRE(ordered_packets.size() == 1);
  CHECK(bulk_packets[0].size() == bulk.size() * sizeof(FrameHeader));
  CHECK(ordered_packets[0].size() == ordered.size() * sizeof(FrameHeader));
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    CHECK(header_at(ordered_packets[0], i * sizeof(FrameHeader)).kind ==
          static_cast<std::uint16_t>(ordered[i]));
  }
}
