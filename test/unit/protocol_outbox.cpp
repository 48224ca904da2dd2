#include "lapse/protocol/outbox.hpp"

#include <cstring>
#include <vector>

#include "lapse/transport/loopback_network.hpp"
#include "test/support/catch.hpp"

using lapse::FrameHeader;
using lapse::FrameKind;
using lapse::LoopbackNetwork;
using lapse::Outbox;
using lapse::Rank;
using lapse::Transport;

namespace {

using Packet = std::vector<std::byte>;

FrameHeader header(FrameKind kind, std::uint64_t operation = 0, std::uint32_t table = 0) {
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  header.table = table;
  header.operation = operation;
  return header;
}

// All packets from rank 0 to `to` on a lane, in sending order.
std::vector<Packet> delivered(LoopbackNetwork& network, Rank to,
                              Transport::Lane lane = Transport::Lane::ordered) {
  std::vector<Packet> packets;
  for (bool more = true; more;) {
    more = false;
    for (const auto& choice : network.deliverable()) {
      if (choice.to != to || choice.lane != lane) continue;
      network.deliver(choice, [&](Rank from, std::span<const std::byte> packet) {
        CHECK(from == Rank(0));
        packets.emplace_back(packet.begin(), packet.end());
      });
      more = true;
      break;
    }
  }
  return packets;
}

FrameHeader header_at(const Packet& packet, std::size_t offset) {
  FrameHeader header;
  REQUIRE(packet.size() >= offset + sizeof header);
  std::memcpy(&header, packet.data() + offset, sizeof header);
  return header;
}

}  // namespace

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
  Outbox outbox(network.endpoint(Rank(0)));
  CHECK(outbox.empty());
  for (std::uint32_t i = 0; i < 3; ++i) {
    outbox.append_record(Rank(1), header(FrameKind::localize), lapse::LocalizeRecord{i});
  }
  outbox.append_record(Rank(2), header(FrameKind::localize), lapse::LocalizeRecord{9});
  outbox.append_record(Rank(1), header(FrameKind::push_answer, 5), lapse::PushAnswerRecord{77});
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
    Outbox outbox(network.endpoint(Rank(0)));
    outbox.append(Rank(1), base);
    outbox.append(Rank(1), other);
    CHECK(outbox.counters().frames == 2);
    outbox.append(Rank(1), other);
    CHECK(outbox.counters().frames == 2);
  }
}

TEST_CASE("Frames of termination detection are not counted") {
  LoopbackNetwork network(2, false);
  Outbox outbox(network.endpoint(Rank(0)));
  outbox.append(Rank(1), header(FrameKind::wave_up));
  outbox.append(Rank(1), header(FrameKind::wave_down));
  outbox.flush();
  CHECK(outbox.counters().frames == 0);
  CHECK(outbox.counters().packets == 1);
}

TEST_CASE("A record may have no bytes; a rank may send to itself") {
  LoopbackNetwork network(1, false);
  Outbox outbox(network.endpoint(Rank(0)));
  outbox.append(Rank(0), header(FrameKind::poison));
  outbox.flush();
  const auto packets = delivered(network, Rank(0));
  REQUIRE(packets.size() == 1);
  CHECK(packets[0].size() == sizeof(FrameHeader));
  CHECK(header_at(packets[0], 0).count == 1);
}

TEST_CASE("Values and answers take the bulk lane where there is one, everything else keeps the order") {
  LoopbackNetwork network(2, true);
  Outbox outbox(network.endpoint(Rank(0)));
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

namespace {

// Payloads of all records of a packet, frame by frame: every record is an item number of 4 bytes.
std::vector<std::vector<std::uint32_t>> items_of(const Packet& packet) {
  std::vector<std::vector<std::uint32_t>> frames;
  for (std::size_t offset = 0; offset < packet.size(); offset = (offset + 7) / 8 * 8) {
    const FrameHeader header = header_at(packet, offset);
    offset += sizeof header;
    std::vector<std::uint32_t>& items = frames.emplace_back();
    REQUIRE(header.record_bytes == sizeof(std::uint32_t));
    REQUIRE(packet.size() >= offset + header.count * sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < header.count; ++i, offset += sizeof(std::uint32_t)) {
      std::memcpy(&items.emplace_back(), packet.data() + offset, sizeof(std::uint32_t));
    }
  }
  return frames;
}

using Items = std::vector<std::vector<std::uint32_t>>;

// What rank 1 gets of what `write` appends.
template <class Write>
Items sent(bool bulk_lane, Write&& write, std::uint64_t frames) {
  LoopbackNetwork network(3, bulk_lane);
  Outbox outbox(network.endpoint(Rank(0)));
  const auto append = [&](std::uint32_t item, std::uint64_t operation = 1, Rank to = Rank(1)) {
    outbox.append_record(to, header(FrameKind::push_answer, operation), lapse::PushAnswerRecord{item});
  };
  write(outbox, append);
  outbox.flush();
  CHECK(outbox.empty());
  CHECK(outbox.counters().frames == frames);
  const auto lane = bulk_lane ? Transport::Lane::bulk : Transport::Lane::ordered;
  const auto packets = delivered(network, Rank(1), lane);
  CHECK(packets.size() <= 1);
  if (packets.empty()) return {};
  CHECK(packets[0].size() % 4 == 0);
  return items_of(packets[0]);
}

}  // namespace

TEST_CASE("A record that is taken back is not sent, wherever it stood, and others go on behind it") {
  for (const bool bulk_lane : {false, true}) {
    INFO("bulk lane " << bulk_lane);
    // The only record of a packet: nothing is sent.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                outbox.cancel();
              },
              0)
              .empty());
    // The same, and the packet is used after all.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                outbox.cancel();
                append(2);
                append(3);
              },
              1) == Items{{2, 3}});
    // The last of several in a frame, which goes on.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                append(2);
                outbox.cancel();
                append(3);
              },
              1) == Items{{1, 3}});
    // The first of a frame behind another one, whose padding goes with it.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                append(2, 7);
                outbox.cancel();
              },
              1) == Items{{1}});
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                append(2, 7);
                outbox.cancel();
                append(3, 7);
              },
              2) == Items{{1}, {3}});
    // The frame before is closed, also for records that would have continued it.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                append(2, 7);
                outbox.cancel();
                append(3);
              },
              2) == Items{{1}, {3}});
    // Again and again.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                for (std::uint32_t i = 0; i < 50; ++i) {
                  append(i, i % 3);
                  append(1000, i % 2);
                  outbox.cancel();
                }
              },
              50)
              .size() == 50);
  }
}

TEST_CASE("What is taken back is the last record, to whichever rank it was") {
  for (const bool bulk_lane : {false, true}) {
    const Items items = sent(
        bulk_lane,
        [](Outbox& outbox, auto append) {
          append(1);
          append(9, 1, Rank(2));
          outbox.cancel();
          append(2);
        },
        1);
    CHECK(items == Items{{1, 2}});
  }
}

TEST_CASE("A packet that has been taken back whole is not sent with the next turn either") {
  LoopbackNetwork network(2, false);
  Outbox outbox(network.endpoint(Rank(0)));
  outbox.append_record(Rank(1), header(FrameKind::localize), lapse::LocalizeRecord{1});
  outbox.cancel();
  outbox.flush();
  CHECK(outbox.counters().packets == 0);
  CHECK(outbox.counters().bytes == 0);
  outbox.append_record(Rank(1), header(FrameKind::localize), lapse::LocalizeRecord{2});
  outbox.flush();
  const auto packets = delivered(network, Rank(1));
  REQUIRE(packets.size() == 1);
  CHECK(packets[0].size() == sizeof(FrameHeader) + 8);
  CHECK(header_at(packets[0], 0).count == 1);
}
