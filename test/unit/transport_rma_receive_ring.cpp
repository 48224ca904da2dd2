// RMA receive rings without messaging: slots, credit, refusals; and both ends in random interleavings.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/transport/rma/rma_receive_ring_layout.hpp"
#include "lapse/transport/rma/rma_receive_ring_reader.hpp"
#include "lapse/transport/rma/rma_receive_ring_writer.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

constexpr std::uint64_t kRingCapacity = 1024;

struct Note {
  RmaRingSlot place;
  std::uint64_t bytes;
};

// A ring that records which payload each byte belongs to, with notes and credit in flight.
class RandomRing {
 public:
  RandomRing(std::uint64_t capacity, std::uint64_t seed)
      : writer_(capacity), reader_(capacity), memory_(capacity, 0), random_(seed, 0) {}

  void run(std::size_t steps) {
    for (std::size_t step = 0; step < steps; ++step) {
      switch (random_.below(4)) {
        case 0:
        case 1:
          write();
          break;
        case 2:
          read();
          break;
        default:
          return_credit();
          break;
      }
    }
    while (!notes_.empty()) read();
    credits_.push_back(reader_.take_credit());
    while (!credits_.empty()) return_credit();
    REQUIRE(writer_.all_consumed());
    REQUIRE(refused_ > 0);
    REQUIRE(read_ > steps / 8);
  }

 private:
  void write() {
    const std::uint64_t bytes = 1 + random_.below(rma_receive_ring::largest_payload(memory_.size()));
    const std::optional<RmaRingSlot> place = writer_.reserve(bytes);
    if (!place) {
      ++refused_;
      // A refusal is allowed only while bytes are in flight or not returned.
      REQUIRE(!writer_.all_consumed());
      return;
    }
    const std::uint64_t begin = place->begin % memory_.size();
    REQUIRE(begin % rma_receive_ring::kAlignment == 0);
    REQUIRE(begin + bytes <= memory_.size());
    const auto first = memory_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(bytes);
    REQUIRE(std::all_of(first, last, [](std::uint64_t owner) { return owner == 0; }));
    std::fill(first, last, ++written_);
    notes_.push_back({*place, bytes});
  }

  void read() {
    if (notes_.empty()) return;
    const Note note = notes_.front();
    notes_.pop_front();
    const std::uint64_t begin = reader_.arrived(note.place.begin, note.bytes);
    ++read_;
    const auto first = memory_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(note.bytes);
    REQUIRE(std::all_of(first, last, [&](std::uint64_t owner) { return owner == read_; }));
    std::fill(first, last, 0);
    reader_.consumed();
    if (reader_.owes_credit()) credits_.push_back(reader_.take_credit());
  }

  void return_credit() {
    if (credits_.empty()) return;
    writer_.credit(credits_.front());
    credits_.pop_front();
  }

  RmaReceiveRingWriter writer_;
  RmaReceiveRingReader reader_;
  std::vector<std::uint64_t> memory_;  // the payload stored there; 0: none
  RandomEngine random_;
  std::deque<Note> notes_;
  std::deque<std::uint64_t> credits_;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;
  std::size_t refused_ = 0;
};

}  // namespace

TEST_CASE("RMA receive rings: payloads are stored in order, aligned and in one piece") {
  RmaReceiveRingWriter writer(kRingCapacity);
  REQUIRE(writer.reserve(100) == RmaRingSlot{0, 128});
  REQUIRE(writer.reserve(256) == RmaRingSlot{128, 384});
  REQUIRE(writer.reserve(256) == RmaRingSlot{384, 640});
  REQUIRE(writer.reserve(200) == RmaRingSlot{640, 896});
  REQUIRE_FALSE(writer.reserve(200));  // Would end after the ring, and its beginning is in use.
  REQUIRE(writer.reserve(128) == RmaRingSlot{896, 1024});
  REQUIRE_FALSE(writer.reserve(1));
  writer.credit(384);
  REQUIRE(writer.reserve(256) == RmaRingSlot{1024, 1280});
  writer.credit(1280);
  REQUIRE(writer.all_consumed());
}

TEST_CASE("RMA receive rings: what does not fit the end of the ring begins at its start") {
  RmaReceiveRingWriter writer(kRingCapacity);
  RmaReceiveRingReader reader(kRingCapacity);
  for (const std::uint64_t bytes : {250, 250, 250, 100}) {
    REQUIRE(reader.arrived(writer.reserve(bytes)->begin, bytes) == reader.take_credit() % kRingCapacity);
    reader.consumed();
    writer.credit(reader.take_credit());
  }
  REQUIRE(writer.reserved() == 896);
  REQUIRE(writer.reserve(200) == RmaRingSlot{1024, 1280});
  REQUIRE(reader.arrived(1024, 200) == 0);
}

TEST_CASE("RMA receive rings: what cannot land is refused") {
  RmaReceiveRingWriter writer(kRingCapacity);
  REQUIRE_FALSE(writer.reserve(0));
  REQUIRE_FALSE(writer.reserve(257));
  REQUIRE(writer.reserve(64));
  REQUIRE_THROWS_AS(writer.credit(128), ProtocolError);
  writer.credit(64);
  REQUIRE_THROWS_AS(writer.credit(0), ProtocolError);

  RmaReceiveRingReader reader(kRingCapacity);
  REQUIRE_THROWS_AS(reader.consumed(), ProtocolError);
  REQUIRE_THROWS_AS(reader.arrived(64, 10), ProtocolError);
  REQUIRE_THROWS_AS(reader.arrived(0, 0), ProtocolError);
  REQUIRE_THROWS_AS(reader.arrived(0, 257), ProtocolError);
  REQUIRE(reader.arrived(0, 10) == 0);
  REQUIRE_THROWS_AS(reader.arrived(64, 10), ProtocolError);
  reader.consumed();
  REQUIRE(reader.owes_anything());
  REQUIRE_FALSE(reader.owes_credit());
  REQUIRE(reader.take_credit() == 64);
  REQUIRE_FALSE(reader.owes_anything());
}

TEST_CASE("RMA receive rings: a reader that has caught up leaves room for any payload") {
  for (std::uint64_t first = 1; first <= 256; first += 5) {
    RmaReceiveRingWriter writer(kRingCapacity);
    RmaReceiveRingReader reader(kRingCapacity);
    RandomEngine random(first, 0);
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t bytes = i % 2 == 0 ? first : 1 + random.below(256);
      const auto place = writer.reserve(bytes);
      REQUIRE(place);
      reader.arrived(place->begin, bytes);
      reader.consumed();
      if (reader.owes_credit()) writer.credit(reader.take_credit());
    }
  }
}

TEST_CASE("RMA receive rings: random interleavings of payloads, notes and credit") {
  for (const std::uint64_t capacity : {256U, 1024U, 4160U}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) RandomRing(capacity, seed).run(5000);
  }
}

TEST_CASE("RMA receive ring layout: rings between hosts, or between all ranks of one host") {
  const std::vector<std::int32_t> hosts{0, 1, 0, 1, 4};
  const RmaReceiveRingLayout layout(hosts, 4096);
  REQUIRE_FALSE(layout.within_host());
  REQUIRE_FALSE(layout.offset(Rank(0), Rank(2)));
  REQUIRE_FALSE(layout.offset(Rank(1), Rank(1)));
  REQUIRE(layout.offset(Rank(1), Rank(0)) == 0U);
  REQUIRE(layout.offset(Rank(3), Rank(0)) == 4096U);
  REQUIRE(layout.offset(Rank(4), Rank(0)) == 8192U);
  REQUIRE(layout.offset(Rank(2), Rank(4)) == 8192U);
  REQUIRE(layout.window_bytes(Rank(0)) == 3 * 4096U);
  REQUIRE(layout.window_bytes(Rank(4)) == 4 * 4096U);
  REQUIRE(layout.partner(Rank(0)) == Rank(1));
  REQUIRE(layout.partner(Rank(1)) == Rank(2));
  REQUIRE(layout.partner(Rank(3)) == Rank(4));

  const RmaReceiveRingLayout one_host(std::vector<std::int32_t>{0, 0, 0}, 4096);
  REQUIRE(one_host.within_host());
  REQUIRE(one_host.offset(Rank(2), Rank(0)) == 4096U);
  REQUIRE(one_host.partner(Rank(2)) == Rank(0));
  REQUIRE_FALSE(RmaReceiveRingLayout(std::vector<std::int32_t>{0}, 4096).partner(Rank(0)));
}

TEST_CASE("RMA receive ring layout: rings become shorter where there are many") {
  const auto hosts = [](std::int32_t ranks) {
    std::vector<std::int32_t> numbers;
    for (std::int32_t rank = 0; rank < ranks; ++rank) numbers.push_back(rank);
    return numbers;
  };
  REQUIRE(RmaReceiveRingLayout(hosts(2), 0).ring_bytes() == RmaReceiveRingLayout::kMaxRingBytes);
  REQUIRE(RmaReceiveRingLayout(hosts(65), 0).ring_bytes() == RmaReceiveRingLayout::kWindowBytes / 64);
  REQUIRE(RmaReceiveRingLayout(hosts(300), 0).ring_bytes() % rma_receive_ring::kAlignment == 0);
  REQUIRE(RmaReceiveRingLayout(hosts(2000), 0).ring_bytes() == RmaReceiveRingLayout::kMinRingBytes);
}
