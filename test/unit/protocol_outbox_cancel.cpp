// Records that are cancelled before they are sent.
#include <cstring>
#include <vector>

#include "lapse/protocol/host/outbox.hpp"
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

namespace {

// Payloads of all records of a packet, frame by frame. Every record is an item number of 4 bytes.
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

// The items that rank 1 receives when `write` appends.
template <class Write>
Items sent(bool bulk_lane, Write&& write, std::uint64_t frames) {
  LoopbackNetwork network(3, bulk_lane);
  Outbox outbox(network.endpoint(Rank(0)), lapse::test::all_frames());
  const auto append = [&](std::uint32_t item, std::uint64_t operation = 1, Rank to = Rank(1)) {
    outbox.append_record(to, header(FrameKind::push_answer, operation), lapse::AnswerRecord{item});
  };
  write(outbox, append);
  outbox.flush();
  CHECK(outbox.empty());
  CHECK(outbox.counters().frames == frames);
  // All sent records are counted by kind; cancelled ones are not.
  const lapse::FrameCounts& kind = outbox.counters().kinds[static_cast<std::size_t>(FrameKind::push_answer)];
  CHECK(kind.frames == frames);
  CHECK(kind.bytes == outbox.counters().bytes);
  CHECK(kind.bytes >= kind.frames * sizeof(FrameHeader) + kind.records * sizeof(lapse::AnswerRecord));
  const auto lane = bulk_lane ? Transport::Lane::bulk : Transport::Lane::ordered;
  const auto packets = delivered(network, Rank(1), lane);
  CHECK(packets.size() <= 1);
  if (packets.empty()) return {};
  CHECK(packets[0].size() % 4 == 0);
  return items_of(packets[0]);
}

}  // namespace

TEST_CASE("A record that is rolled back is not sent, wherever it stood, and other records follow behind it") {
  for (const bool bulk_lane : {false, true}) {
    INFO("bulk lane " << bulk_lane);
    // The only record of a packet: no packet is sent.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                outbox.cancel();
              },
              0)
              .empty());
    // Likewise, and the packet is used later.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                outbox.cancel();
                append(2);
                append(3);
              },
              1) == Items{{2, 3}});
    // The last of several records in a frame, which continues.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                append(2);
                outbox.cancel();
                append(3);
              },
              1) == Items{{1, 3}});
    // The first record of a frame that follows another one, whose padding is also removed.
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
    // The previous frame is closed, even for records that could have continued it.
    CHECK(sent(
              bulk_lane,
              [](Outbox& outbox, auto append) {
                append(1);
                append(2, 7);
                outbox.cancel();
                append(3);
              },
              2) == Items{{1}, {3}});
    // Repeatedly.
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

TEST_CASE("What is rolled back is the last record, to whichever rank it was") {
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

TEST_CASE("A packet that has been rolled back whole is not sent with the next turn either") {
  LoopbackNetwork network(2, false);
  Outbox outbox(network.endpoint(Rank(0)), lapse::test::all_frames());
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
