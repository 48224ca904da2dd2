#include "lapse/protocol/host/dispatcher.hpp"

#include <cstring>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"
#include "test/support/frame_modules.hpp"
#include "test/support/thrown_text.hpp"

using lapse::Dispatcher;
using lapse::FrameHeader;
using lapse::FrameKind;
using lapse::FrameSpec;
using lapse::FrameTable;
using lapse::ProtocolError;
using lapse::Rank;
using lapse::test::contains;
using lapse::test::thrown_text;

namespace {

using Packet = std::vector<std::byte>;

// Records the frames, and reads every byte, so that AddressSanitizer detects a wrong length.
class Recorder final : public lapse::test::ModuleStandIn {
 public:
  using ModuleStandIn::ModuleStandIn;

  struct Frame {
    Rank from;
    FrameHeader header;
    std::vector<std::byte> records;
  };

  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override {
    frames.push_back({from, header, {records, records + std::size_t{header.count} * header.record_bytes}});
  }

  std::vector<Frame> frames;
};

void append_frame(Packet& packet, FrameKind kind, std::uint32_t count, std::uint32_t record_bytes) {
  packet.resize((packet.size() + 7) / 8 * 8);
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  header.count = count;
  header.record_bytes = record_bytes;
  const std::size_t at = packet.size();
  packet.resize(at + sizeof header + std::size_t{count} * record_bytes,
                static_cast<std::byte>(header.kind + 100));
  std::memcpy(packet.data() + at, &header, sizeof header);
}

struct Fixture {
  Recorder pulls{{{FrameKind::pull}}};
  Recorder rest{{{FrameKind::push}, FrameSpec(FrameKind::wave_up).uncounted()}};
  FrameTable frames;
  Dispatcher dispatcher{frames};

  Fixture() {
    frames.add(pulls);
    frames.add(rest);
  }
  // From memory of exactly this size.
  void handle(const Packet& packet) {
    const std::vector<std::byte> exact(packet);
    dispatcher.handle_packet(Rank(3), exact);
  }
};

}  // namespace

TEST_CASE("Every frame of a packet reaches the handler of its kind") {
  Fixture fixture;
  Packet packet;
  append_frame(packet, FrameKind::pull, 3, 16);
  append_frame(packet, FrameKind::push, 1, 5);
  append_frame(packet, FrameKind::pull, 1, 0);
  append_frame(packet, FrameKind::push, 2, 8);
  fixture.handle(packet);
  REQUIRE(fixture.pulls.frames.size() == 2);
  REQUIRE(fixture.rest.frames.size() == 2);
  CHECK(fixture.pulls.frames[0].from == Rank(3));
  CHECK(fixture.pulls.frames[0].records == std::vector<std::byte>(48, std::byte{101}));
  CHECK(fixture.rest.frames[0].records == std::vector<std::byte>(5, std::byte{102}));
  CHECK(fixture.rest.frames[1].header.count == 2);
  CHECK(fixture.dispatcher.frames_received() == 4);
  const auto kind = [&](FrameKind which) {
    return fixture.dispatcher.kinds()[static_cast<std::size_t>(which)];
  };
  CHECK(kind(FrameKind::pull).records == 4);
  CHECK(kind(FrameKind::push).records == 3);
  CHECK(kind(FrameKind::pull).bytes + kind(FrameKind::push).bytes == packet.size());
  CHECK(lapse::frame_name(static_cast<std::size_t>(FrameKind::push)) == "push");
  CHECK(lapse::frame_name(0) == "unknown");
}

TEST_CASE("The last frame need not be padded, and an empty packet holds no frame") {
  Fixture fixture;
  Packet packet;
  append_frame(packet, FrameKind::push, 1, 5);
  fixture.handle(packet);
  fixture.handle({});
  CHECK(fixture.rest.frames.size() == 1);
}

TEST_CASE("Frames of termination detection are not counted when they are received") {
  Fixture fixture;
  Packet packet;
  append_frame(packet, FrameKind::wave_up, 1, 16);
  fixture.handle(packet);
  CHECK(fixture.rest.frames.size() == 1);
  CHECK(fixture.dispatcher.frames_received() == 0);
}

TEST_CASE("A packet that is cut off anywhere is refused; whole frames before the cut are handled") {
  Packet packet;
  append_frame(packet, FrameKind::pull, 2, 16);
  const std::size_t first = packet.size();
  append_frame(packet, FrameKind::push, 3, 8);
  for (std::size_t size = 1; size < packet.size(); ++size) {
    if (size == first) continue;
    Fixture fixture;
    CHECK_THROWS_AS(
        fixture.handle(Packet(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size))),
        ProtocolError);
    CHECK(fixture.pulls.frames.size() == (size > first ? 1 : 0));
    CHECK(fixture.rest.frames.empty());
  }
}

TEST_CASE("Records whose product of number and size overflows are refused") {
  for (const auto& [count, bytes] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {0xffff'ffffU, 0xffff'ffffU}, {0x8000'0000U, 2}, {2, 0x8000'0000U}, {1, 0xffff'ffffU}}) {
    Packet packet;
    append_frame(packet, FrameKind::pull, 1, 8);
    std::memcpy(packet.data() + offsetof(FrameHeader, count), &count, 4);
    std::memcpy(packet.data() + offsetof(FrameHeader, record_bytes), &bytes, 4);
    Fixture fixture;
    CHECK_THROWS_AS(fixture.handle(packet), ProtocolError);
    CHECK(fixture.pulls.frames.empty());
  }
}

TEST_CASE("A frame without records is refused") {
  Packet packet;
  append_frame(packet, FrameKind::pull, 0, 8);
  Fixture fixture;
  CHECK_THROWS_AS(fixture.handle(packet), ProtocolError);
  CHECK(fixture.pulls.frames.empty());
}

TEST_CASE("A kind that no module handles is refused with its number and sender") {
  for (const unsigned kind : {0U, 3U, 14U, 999U, 65535U}) {
    Packet packet;
    append_frame(packet, static_cast<FrameKind>(kind), 1, 8);
    Fixture fixture;
    const std::string text = thrown_text<ProtocolError>([&] { fixture.handle(packet); });
    CHECK(contains(text, "kind " + std::to_string(kind)));
    CHECK(contains(text, "rank 3"));
  }
}

TEST_CASE("What a handler throws comes out after the frames that follow have been handled") {
  class Thrower final : public lapse::test::ModuleStandIn {
   public:
    using ModuleStandIn::ModuleStandIn;

    void handle_frame(Rank, const FrameHeader&, const std::byte*) override {
      throw ProtocolError("failure " + std::to_string(++calls));
    }
    int calls = 0;
  };
  Thrower thrower{{{FrameKind::set}}};
  Recorder rest{{{FrameKind::push}}};
  FrameTable frames;
  frames.add(thrower);
  frames.add(rest);
  Dispatcher dispatcher(frames);
  Packet packet;
  append_frame(packet, FrameKind::set, 1, 8);
  append_frame(packet, FrameKind::set, 2, 8);
  append_frame(packet, FrameKind::push, 1, 8);
  CHECK(thrown_text<ProtocolError>([&] { dispatcher.handle_packet(Rank(3), packet); }) == "failure 1");
  CHECK(thrower.calls == 2);
  CHECK(rest.frames.size() == 1);
  CHECK(dispatcher.frames_received() == 3);
}

TEST_CASE("A kind has one module, and is one that frames can have") {
  Fixture fixture;
  Recorder second{{{FrameKind::pull}}};
  CHECK_THROWS_AS(fixture.frames.add(second), ProtocolError);
  Recorder unknown{{{static_cast<FrameKind>(lapse::kFrameKinds)}}};
  CHECK_THROWS_AS(fixture.frames.add(unknown), ProtocolError);
}

TEST_CASE("Random bytes are refused or are frames, and nothing else happens") {
  lapse::RandomEngine random(1);
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    Packet packet(random.below(200));
    for (std::byte& byte : packet) byte = static_cast<std::byte>(random.below(256));
    if (packet.size() >= sizeof(FrameHeader) && random.below(2) == 0) {
      // A plausible header, so that the fields after it are checked.
      FrameHeader header;
      header.kind = static_cast<std::uint16_t>(random.below(4));
      header.count = static_cast<std::uint32_t>(random.below(6));
      header.record_bytes = static_cast<std::uint32_t>(random.below(40));
      std::memcpy(packet.data(), &header, sizeof header);
    }
    Fixture fixture;
    try {
      fixture.handle(packet);
    } catch (const ProtocolError&) {
      ++refused;
    }
  }
  CHECK(refused > 10'000);
  CHECK(refused < 20'000);
}

TEST_CASE("A cut forgets only what has overtaken a cut of its kind") {
  using Kind = lapse::CutNumber::Kind;
  Fixture fixture;
  const auto handle_with = [&](lapse::CutNumber sender, FrameKind kind) {
    Packet packet;
    append_frame(packet, kind, 1, 8);
    FrameHeader header;
    std::memcpy(&header, packet.data(), sizeof header);
    header.flags = sender.flags();
    std::memcpy(packet.data(), &header, sizeof header);
    fixture.handle(packet);
  };
  lapse::CutNumber sender;
  handle_with(sender, FrameKind::push);
  CHECK_FALSE(fixture.dispatcher.is_overtaken(Kind::wave));
  CHECK_FALSE(fixture.dispatcher.is_overtaken(Kind::barrier));
  sender.advance(Kind::wave);
  handle_with(sender, FrameKind::wave_up);  // not counted
  CHECK_FALSE(fixture.dispatcher.is_overtaken(Kind::wave));
  handle_with(sender, FrameKind::push);
  CHECK(fixture.dispatcher.is_overtaken(Kind::wave));
  CHECK_FALSE(fixture.dispatcher.is_overtaken(Kind::barrier));
  fixture.dispatcher.cut(Kind::barrier);
  CHECK(fixture.dispatcher.is_overtaken(Kind::wave));
  fixture.dispatcher.cut(Kind::wave);
  CHECK_FALSE(fixture.dispatcher.is_overtaken(Kind::wave));
  sender.advance(Kind::barrier);
  sender.advance(Kind::barrier);
  handle_with(sender, FrameKind::push);
  CHECK_FALSE(fixture.dispatcher.is_overtaken(Kind::wave));
  CHECK(fixture.dispatcher.is_overtaken(Kind::barrier));
  fixture.dispatcher.start_cuts();
  CHECK_FALSE(fixture.dispatcher.is_overtaken(Kind::barrier));
}
