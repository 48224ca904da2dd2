// Runs of operations and their answers on the wire, and invalid ones that no rank sends.
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/records/operation_records.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

using Numbers = std::vector<std::int64_t>;

FrameHeader first_run_header(const std::vector<std::byte>& packet) {
  FrameHeader header;
  REQUIRE(packet.size() >= sizeof header);
  std::memcpy(&header, packet.data(), sizeof header);
  return header;
}

std::vector<Key> keys_of(std::initializer_list<std::uint64_t> numbers) {
  std::vector<Key> keys;
  for (const std::uint64_t number : numbers) keys.emplace_back(number);
  return keys;
}

// A frame with these header fields, followed by the numbers; rank 0 handles it.
void handle(WaitingRanks& ranks, const FrameHeader& header, const std::vector<std::uint64_t>& numbers,
            Rank from = Rank(1)) {
  const std::size_t bytes = numbers.size() * sizeof(std::uint64_t);
  // Memory of exactly this size, so that a sanitizer detects reads beyond it.
  const std::unique_ptr<std::byte[]> packet(new std::byte[sizeof header + bytes]);
  std::memcpy(packet.get(), &header, sizeof header);
  if (bytes > 0) std::memcpy(packet.get() + sizeof header, numbers.data(), bytes);
  ranks.protocol(0).handle_packet(from, {packet.get(), sizeof header + bytes});
}

FrameHeader run_header(FrameKind kind, std::uint32_t count, std::uint32_t record_bytes) {
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  header.count = count;
  header.record_bytes = record_bytes;
  return header;
}

}  // namespace

TEST_CASE("Operations on many keys send one frame to each destination, and read and write what was meant") {
  WaitingRanks ranks;
  const std::vector<Key> keys = keys_of({4, 8, 0, 5, 9, 1, 6, 10, 2, 11, 7});
  Numbers values(keys.size());
  std::iota(values.begin(), values.end(), 100);
  ranks.submit(0, OperationKind::set, keys, &values);
  std::size_t frames = 0;
  for (auto next = ranks.deliver_next(); !next.packet.empty(); next = ranks.deliver_next()) {
    const FrameHeader header = first_run_header(next.packet);
    if (header.kind == static_cast<std::uint16_t>(FrameKind::push_run_answer)) {
      CHECK(next.packet.size() == sizeof header);
      continue;
    }
    ++frames;
    CHECK(header.kind == static_cast<std::uint16_t>(FrameKind::set_run));
    CHECK(header.count == 4);
    CHECK(next.packet.size() == sizeof header + 4 * 16);
  }
  CHECK(frames == 2);
  Numbers read;
  ranks.submit(2, OperationKind::pull, keys, &read);
  ranks.deliver_all();
  CHECK(read == values);
  // Pushes with different scales are not mixed; integers have no scale.
  Numbers ones(keys.size(), 1);
  ranks.submit(1, OperationKind::push, keys, &ones);
  ranks.deliver_all();
  ranks.submit(1, OperationKind::pull, keys, &read);
  ranks.deliver_all();
  for (std::size_t i = 0; i < keys.size(); ++i) CHECK(read[i] == values[i] + 1);
}

TEST_CASE("A run says where it was routed by its home, and keys that are not there go on one by one") {
  WaitingRanks ranks;
  ranks.submit(2, OperationKind::localize, keys_of({0, 1, 2, 5}));
  ranks.deliver_all();
  // Key 5 has left rank 1, its home; rank 0 is the home of the other keys and has no cached location.
  Numbers updates{1, 2, 3, 4, 5, 6};
  OperationState& push = ranks.submit(0, OperationKind::push, keys_of({0, 4, 1, 5, 2, 6}), &updates);
  std::vector<FrameHeader> to_owner;
  for (auto next = ranks.deliver_next(); !next.packet.empty(); next = ranks.deliver_next())
    if (next.to == Rank(2)) to_owner.push_back(first_run_header(next.packet));
  REQUIRE(to_owner.size() == 2);
  for (const FrameHeader& header : to_owner) CHECK(header.flags == FrameHeader::kByHome);
  CHECK(to_owner[0].kind == static_cast<std::uint16_t>(FrameKind::push_run));
  CHECK(to_owner[0].count == 3);
  CHECK(to_owner[1].kind == static_cast<std::uint16_t>(FrameKind::push));
  CHECK(to_owner[1].origin == 0);
  CHECK(push.done());
  Numbers read;
  ranks.submit(1, OperationKind::pull, keys_of({0, 1, 2, 4, 5, 6}), &read);
  ranks.deliver_all();
  CHECK(read == Numbers{1, 3, 5, 2, 4, 6});
}

TEST_CASE("A run that the home has routed to a rank without the key is refused") {
  WaitingRanks ranks;
  for (const FrameKind kind : {FrameKind::pull_run, FrameKind::push_run, FrameKind::set_run}) {
    const bool pull = kind == FrameKind::pull_run;
    FrameHeader header = run_header(kind, 2, pull ? 8 : 16);
    header.flags = FrameHeader::kByHome;
    const std::vector<std::uint64_t> numbers =
        pull ? std::vector<std::uint64_t>{1, 5} : std::vector<std::uint64_t>{1, 5, 0, 0};
    CHECK_THROWS_AS(handle(ranks, header, numbers), ProtocolError);
  }
}

TEST_CASE("Runs of wrong lengths, numbers, tables and keys are refused, and do nothing") {
  WaitingRanks ranks;
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  for (const FrameKind kind : {FrameKind::pull_run, FrameKind::push_run, FrameKind::set_run}) {
    const std::uint32_t bytes = kind == FrameKind::pull_run ? 8 : 16;
    const FrameHeader right = run_header(kind, 2, bytes);
    const std::vector<std::uint64_t> numbers(bytes / 4, 1);
    const auto refuse = [&](auto&& change) {
      FrameHeader header = right;
      std::vector<std::uint64_t> records = numbers;
      change(header, records);
      CHECK_THROWS_AS(handle(ranks, header, records), ProtocolError);
    };
    refuse([](FrameHeader& header, auto&) { header.record_bytes = 0; });
    refuse([](FrameHeader& header, auto&) { header.record_bytes = 4; });
    refuse([](FrameHeader& header, auto&) { header.record_bytes += 1; });
    refuse([](FrameHeader& header, auto& records) {
      header.record_bytes += 8;
      records.resize(records.size() + 2);
    });
    refuse([](FrameHeader& header, auto&) { header.count = 3; });
    refuse([](FrameHeader& header, auto&) { header.count = 0; });
    refuse([](FrameHeader& header, auto&) { header.count = 0xffff'ffffU; });
    refuse([](FrameHeader& header, auto&) { header.domain = -1; });
    refuse([](FrameHeader& header, auto&) { header.domain = kMax; });
    refuse([](FrameHeader& header, auto&) { header.table = 1; });  // different lengths
    refuse([](FrameHeader& header, auto&) { header.table = 2; });
    for (const std::uint64_t key : {WaitingRanks::kKeys, ~std::uint64_t{0}})
      refuse([&](FrameHeader&, auto& records) { records[1] = key; });
  }
  std::int64_t value = -1;
  REQUIRE(ranks.table(0).read(Key(1), reinterpret_cast<std::byte*>(&value)));
  CHECK(value == 0);
}

TEST_CASE("The number of a run's last item may be the largest, and a scale any number") {
  WaitingRanks ranks;
  FrameHeader header = run_header(FrameKind::push_run, 1, 16);
  header.domain = std::numeric_limits<std::int32_t>::max();
  header.origin = -1;  // not the bits of a number
  CHECK_NOTHROW(handle(ranks, header, {1, 41}));
  std::int64_t value = -1;
  REQUIRE(ranks.table(0).read(Key(1), reinterpret_cast<std::byte*>(&value)));
}

TEST_CASE("Answers to runs that do not fit their operation are refused") {
  for (const OperationKind kind : {OperationKind::pull, OperationKind::push, OperationKind::set}) {
    const bool pull = kind == OperationKind::pull;
    const FrameKind answer = pull ? FrameKind::pull_run_answer : FrameKind::push_run_answer;
    const FrameKind other = pull ? FrameKind::push_run_answer : FrameKind::pull_run_answer;
    WaitingRanks ranks;
    Numbers rows(5, 7);
    OperationState& operation = ranks.submit(0, kind, keys_of({4, 8, 5, 0, 6}), &rows);
    REQUIRE(operation.remaining == 4);  // Key 0 is local, and not in the order of routes.
    FrameHeader right = run_header(answer, 3, pull ? 8 : 0);
    right.domain = 1;
    right.operation = operation.number;
    const std::vector<std::uint64_t> values(pull ? 3 : 0, 99);
    const Numbers before = rows;
    const auto refuse = [&](auto&& change) {
      FrameHeader header = right;
      std::vector<std::uint64_t> records = values;
      change(header, records);
      CHECK_THROWS_AS(handle(ranks, header, records), ProtocolError);
      CHECK(operation.remaining == 4);
      CHECK(rows == before);
    };
    for (const std::int32_t first :
         {2, 4, 5, -1, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()})
      refuse([&](FrameHeader& header, auto&) { header.origin = first; });
    refuse([&](FrameHeader& header, auto& records) {
      header.count = 5;
      records.resize(pull ? 5 : 0);
    });
    refuse([&](FrameHeader& header, auto& records) {
      header.kind = static_cast<std::uint16_t>(other);
      header.record_bytes = pull ? 0 : 8;
      records.resize(pull ? 0 : 3);
    });
    refuse([&](FrameHeader& header, auto& records) {
      header.record_bytes = pull ? 0 : 8;
      records.resize(pull ? 0 : 3);
    });
    for (const std::int32_t domain : {-1, 3})
      refuse([&](FrameHeader& header, auto&) { header.domain = domain; });
    for (const std::uint32_t table : {1, 2, 77})
      refuse([&](FrameHeader& header, auto&) { header.table = table; });
    // No such operation, one of another worker, and one that is not open.
    for (const std::uint64_t number : {operation.number + 1, operation.number + (std::uint64_t{1} << 32U),
                                       operation.number + 1'000'000, ~std::uint64_t{0}})
      refuse([&](FrameHeader& header, auto&) { header.operation = number; });
    // The correct answer, twice.
    handle(ranks, right, values);
    CHECK(operation.remaining == 1);
    CHECK_THROWS_AS(handle(ranks, right, values), ProtocolError);
    CHECK(operation.remaining == 1);
    if (pull) CHECK(rows == Numbers{99, -1, 99, 0, 99});
    FrameHeader last = right;
    last.count = 1;
    last.origin = 3;
    handle(ranks, last, pull ? std::vector<std::uint64_t>{55} : std::vector<std::uint64_t>{});
    CHECK(operation.done());
    CHECK_THROWS_AS(handle(ranks, last, values), ProtocolError);
    if (pull) CHECK(rows == Numbers{99, 55, 99, 0, 99});
  }
}

TEST_CASE("An answer names no key that waits for a route or has been executed") {
  WaitingRanks ranks;
  // Key 4 takes the route of the previous operation, and key 0 is local: neither is in the order of routes.
  ranks.submit(0, OperationKind::pull, keys_of({4}));
  ranks.table(0).remember_location(Key(4), Domain(2));
  Numbers rows;
  OperationState& operation = ranks.submit(0, OperationKind::pull, keys_of({4, 0, 5, 6}), &rows);
  FrameHeader header = run_header(FrameKind::pull_run_answer, 3, 8);
  header.domain = 1;
  header.operation = operation.number;
  CHECK_THROWS_AS(handle(ranks, header, {1, 2, 3}), ProtocolError);
  CHECK(rows == Numbers{-1, 0, -1, -1});
  // A detached pull accepts its answer, and writes no values.
  operation.destination = nullptr;
  ranks.deliver_all();
  CHECK(operation.done());
  CHECK(rows == Numbers{-1, 0, -1, -1});
}

TEST_CASE("A key that a call names several times is executed in the order of the call, wherever it is") {
  for (const bool moved : {false, true}) {
    WaitingRanks ranks;
    if (moved) {
      ranks.submit(2, OperationKind::localize, keys_of({5}));
      ranks.deliver_all();
    }
    // Rank 0 does not know that key 5 has left its home.
    Numbers sets{1, 2, 3, 4, 5, 6};
    OperationState& operation = ranks.submit(0, OperationKind::set, keys_of({5, 4, 5, 6, 7, 5}), &sets);
    CHECK_FALSE(operation.reordered);
    Numbers read;
    ranks.submit(0, OperationKind::pull, keys_of({5, 4, 5}), &read);
    ranks.deliver_all();
    CHECK(read == Numbers{6, 2, 6});
    Numbers from_home;
    ranks.submit(1, OperationKind::pull, keys_of({5}), &from_home);
    ranks.deliver_all();
    CHECK(from_home == Numbers{6});
  }
}
