// Runs of records: as many at once as fit into a packet.
#include <algorithm>
#include <cstring>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/simulation_borrowed_transport.hpp"
#include "test/unit/protocol_outbox_packets.hpp"

using lapse::FrameHeader;
using lapse::FrameKind;
using lapse::LoopbackNetwork;
using lapse::Outbox;
using lapse::Rank;
using lapse::test::BorrowedTransport;
using lapse::test::delivered;
using lapse::test::header;
using lapse::test::header_at;
using lapse::test::Packet;

namespace {

class SmallPackets final : public BorrowedTransport {
 public:
  SmallPackets(lapse::Transport& transport, std::size_t bytes)
      : BorrowedTransport(transport), bytes_(bytes) {}
  std::size_t packet_bytes(Rank) const override { return bytes_; }

 private:
  std::size_t bytes_;
};

struct Record {
  FrameHeader header;  // its count is 1
  std::vector<std::byte> bytes;
};

// Writes its own records into an outbox, and stores the expected contents of the packets.
class Writer {
 public:
  explicit Writer(std::size_t packet_bytes, std::size_t ranks = 2)
      : network_(static_cast<std::int32_t>(ranks), false),
        transport_(network_.endpoint(Rank(0)), packet_bytes),
        outbox_(transport_, lapse::test::all_frames()),
        expected_(ranks) {}

  Outbox& outbox() { return outbox_; }
  void append(const FrameHeader& header, Rank to = Rank(1)) {
    fill(outbox_.append(to, header), header, 1, to);
  }
  // Returns how many of `count` records fit.
  std::uint32_t append_run(const FrameHeader& header, std::uint32_t count, Rank to = Rank(1)) {
    const Outbox::Run run = outbox_.append_run(to, header, count);
    CHECK(run.count >= 1);
    CHECK(run.count <= count);
    fill(run.records, header, run.count, to);
    return run.count;
  }
  void cancel(std::uint32_t count, Rank to = Rank(1)) {
    outbox_.cancel(count);
    expected_[to.index()].resize(expected_[to.index()].size() - count);
  }
  // Sends all packets. Returns the records of each frame that a rank receives, packet by packet.
  std::vector<std::vector<std::uint32_t>> check(Rank to = Rank(1)) {
    outbox_.flush();
    std::vector<std::vector<std::uint32_t>> counts;
    std::size_t at = 0;
    const std::vector<Record>& expected = expected_[to.index()];
    for (const Packet& packet : delivered(network_, to)) {
      counts.emplace_back();
      for (std::size_t offset = 0; offset < packet.size(); offset = (offset + 7) / 8 * 8) {
        const FrameHeader header = header_at(packet, offset);
        offset += sizeof header;
        counts.back().push_back(header.count);
        REQUIRE(header.count > 0);
        REQUIRE(offset + std::size_t{header.count} * header.record_bytes <= packet.size());
        for (std::uint32_t i = 0; i < header.count; ++i, ++at, offset += header.record_bytes) {
          REQUIRE(at < expected.size());
          REQUIRE(header.same_frame(expected[at].header));
          const auto* const bytes = packet.data() + offset;
          REQUIRE(std::equal(bytes, bytes + header.record_bytes, expected[at].bytes.begin()));
        }
      }
      const bool has_several =
          counts.back() != std::vector<std::uint32_t>{1} && packet.size() > sizeof(FrameHeader);
      if (has_several) CHECK(packet.size() <= transport_.packet_bytes(Rank(1)));
    }
    CHECK(at == expected.size());
    return counts;
  }

 private:
  void fill(std::byte* at, const FrameHeader& header, std::uint32_t count, Rank to) {
    for (std::uint32_t i = 0; i < count; ++i, at += header.record_bytes) {
      Record& record = expected_[to.index()].emplace_back(Record{header, {}});
      for (std::uint32_t byte = 0; byte < header.record_bytes; ++byte)
        record.bytes.push_back(static_cast<std::byte>(++last_));
      if (!record.bytes.empty()) std::memcpy(at, record.bytes.data(), record.bytes.size());
    }
  }

  LoopbackNetwork network_;
  SmallPackets transport_;
  Outbox outbox_;
  std::vector<std::vector<Record>> expected_;
  unsigned last_ = 0;
};

FrameHeader run_of(std::uint32_t record_bytes, std::uint64_t operation = 1) {
  FrameHeader run = header(FrameKind::pull_run, operation);
  run.record_bytes = record_bytes;
  return run;
}

using Counts = std::vector<std::vector<std::uint32_t>>;

}  // namespace

TEST_CASE("A run fills the packet; what has no room goes into the next one") {
  Writer writer(32 + 7 + 10 * 8);
  CHECK(writer.append_run(run_of(8), 25) == 10);
  CHECK(writer.append_run(run_of(8, 2), 15) == 10);  // like Access does, with another first number
  CHECK(writer.append_run(run_of(8, 3), 5) == 5);
  CHECK(writer.check() == Counts{{10}, {10}, {5}});
}

TEST_CASE(
    "A run continues a frame with an equal header as far as there is room, and begins one behind another") {
  Writer writer(32 + 7 + 10 * 8);
  writer.append(run_of(8));
  CHECK(writer.append_run(run_of(8), 4) == 4);
  CHECK(writer.append_run(run_of(8), 9) == 5);
  CHECK(writer.append_run(run_of(8), 4) == 4);
  // After another frame, with padding.
  CHECK(writer.append_run(run_of(1, 2), 20) == 16);
  writer.append(run_of(1, 3));
  CHECK(writer.check() == Counts{{10}, {4, 16}, {1}});
  CHECK(writer.outbox().counters().frames == 4);
}

TEST_CASE("A run of records that are larger than a packet goes one by one") {
  Writer writer(64);
  for (std::uint32_t left = 3; left > 0;) left -= writer.append_run(run_of(100), left);
  CHECK(writer.check() == Counts{{1}, {1}, {1}});
}

TEST_CASE("A run of records without bytes fits whole, also when it continues a frame or the packet is full") {
  Writer writer(32 + 7 + 8);
  CHECK(writer.append_run(run_of(0), 1'000'000) == 1'000'000);
  CHECK(writer.append_run(run_of(0), 5) == 5);
  writer.cancel(2);
  CHECK(writer.append_run(run_of(0), 7) == 7);
  writer.append(run_of(8, 2));  // does not fit after a header
  CHECK(writer.append_run(run_of(0, 3), 3) == 3);
  CHECK(writer.check() == Counts{{1'000'010}, {1}, {3}});
}

TEST_CASE("A frame holds no more records than its header can count") {
  LoopbackNetwork network(2, false);
  Outbox outbox(network.endpoint(Rank(0)), lapse::test::all_frames());
  constexpr std::uint32_t kMax = 0xffff'ffffU;
  CHECK(outbox.append_run(Rank(1), run_of(0), kMax - 2).count == kMax - 2);
  CHECK(outbox.append_run(Rank(1), run_of(0), 5).count == 2);
  CHECK(outbox.append_run(Rank(1), run_of(0), 5).count == 5);
  outbox.flush();
  const auto packets = delivered(network, Rank(1));
  REQUIRE(packets.size() == 1);
  CHECK(header_at(packets[0], 0).count == kMax);
  CHECK(header_at(packets[0], sizeof(FrameHeader)).count == 5);
}

TEST_CASE("The last records of a run are rolled back: some, or all, with the frame where it is empty then") {
  for (const std::uint32_t left : {0U, 1U, 5U}) {
    INFO(left << " are left");
    Writer writer(4096);
    SECTION("alone") {
      CHECK(writer.append_run(run_of(12), 6) == 6);
      writer.cancel(6 - left);
      CHECK(writer.check() == (left == 0 ? Counts{} : Counts{{left}}));
      CHECK(writer.outbox().counters().frames == (left == 0 ? 0 : 1));
    }
    SECTION("behind another frame, and something follows") {
      writer.append(run_of(3, 7));
      CHECK(writer.append_run(run_of(12), 6) == 6);
      writer.cancel(6 - left);
      writer.append(run_of(12));
      CHECK(writer.check() == Counts{{1, left + 1}});
    }
    SECTION("a run that has continued a frame") {
      CHECK(writer.append_run(run_of(12), 2) == 2);
      CHECK(writer.append_run(run_of(12), 6) == 6);
      writer.cancel(6 - left);
      CHECK(writer.append_run(run_of(12), 1) == 1);
      CHECK(writer.check() == Counts{{2 + left + 1}});
    }
  }
}

TEST_CASE("A run that was sent for is rolled back in the packet that was begun for it") {
  Writer writer(32 + 7 + 4 * 8);
  CHECK(writer.append_run(run_of(8), 4) == 4);
  CHECK(writer.append_run(run_of(8), 3) == 3);  // the first packet has been sent
  writer.cancel(3);
  CHECK(writer.append_run(run_of(8), 1) == 1);
  CHECK(writer.check() == Counts{{4}, {1}});
}

TEST_CASE("Runs, records and roll-backs in any order: the packets contain what was left, in its order") {
  lapse::RandomEngine random(5);
  const std::vector<std::uint32_t> sizes{0, 1, 4, 8, 12, 40, 200};
  for (int round = 0; round < 400; ++round) {
    Writer writer(1 + random.below(400), 3);
    for (int step = 0; step < 60; ++step) {
      const Rank to(static_cast<std::int32_t>(random.below(3)));
      const FrameHeader frame = run_of(sizes[random.below(sizes.size())], random.below(2));
      std::uint32_t appended = 1;
      if (random.below(3) == 0) {
        writer.append(frame, to);
      } else {
        appended = writer.append_run(frame, static_cast<std::uint32_t>(1 + random.below(40)), to);
      }
      if (random.below(3) == 0) writer.cancel(static_cast<std::uint32_t>(1 + random.below(appended)), to);
    }
    std::size_t frames = 0;
    for (std::int32_t to = 0; to < 3; ++to)
      for (const auto& packet : writer.check(Rank(to))) frames += packet.size();
    CHECK(writer.outbox().counters().frames == frames);
  }
}
