// Operations on single elements, and messages that hold malformed ones.
#include <cstring>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/records/operation_records.hpp"
#include "lapse/protocol/table/element_payload.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;

namespace {

// Keys 0 to 3 have their home on rank 0, keys 4 to 7 on rank 1. Values of table 1 have 1 element, those of
// odd keys 2.
constexpr std::uint32_t kTable = 1;

class ElementRanks : public test::WaitingRanks {
 public:
  TableShard& elements(std::size_t rank) { return *protocol(rank).registry().tables()[kTable]; }

  struct Item {
    Key key;
    std::vector<std::uint32_t> indices;
  };
  // Submits an operation of rank 0. `values`: a push's updates, or where a pull writes.
  OperationState& submit_elements(OperationKind kind, const std::vector<Item>& items,
                                  std::vector<std::int64_t>& values) LAPSE_REQUIRES(progress_role) {
    OperationState& operation = worker(0).acquire();
    operation.kind = kind;
    operation.scale = 1;
    operation.table = &elements(0);
    operation.row_unit = sizeof(std::int64_t);
    operation.payload_unit = ElementPayload::unit(kind, sizeof(std::int64_t));
    worker(0).unanswered().begin(operation, TableId(kTable));
    std::uint32_t first = 0;
    for (const Item& item : items) {
      const std::vector<std::byte> payload = payload_of(kind, item.indices, values.data() + first);
      const std::size_t at = operation.payload.size();
      operation.payload.insert(operation.payload.end(), payload.begin(), payload.end());
      worker(0).unanswered().add();
      operation.items.emplace_back(item.key, first, static_cast<std::uint32_t>(at / operation.payload_unit));
      operation.items.back().is_kept = true;
      first += static_cast<std::uint32_t>(item.indices.size());
    }
    if (kind == OperationKind::pull_elements)
      operation.destination = reinterpret_cast<std::byte*>(values.data());
    operation.remaining = static_cast<std::uint32_t>(items.size());
    worker(0).opened(operation);
    protocol(0).access().handle_submission(operation);
    protocol(0).end_turn();
    return operation;
  }
  static std::vector<std::byte> payload_of(OperationKind kind, const std::vector<std::uint32_t>& indices,
                                           const std::int64_t* updates) {
    const auto count = static_cast<std::uint32_t>(indices.size());
    std::vector<std::byte> payload(ElementPayload::bytes(kind, count, sizeof(std::int64_t)));
    std::memcpy(payload.data(), &count, sizeof count);
    if (indices.empty()) return payload;
    std::memcpy(payload.data() + ElementPayload::kCountBytes, indices.data(), count * sizeof(std::uint32_t));
    if (kind == OperationKind::push_elements) {
      std::memcpy(payload.data() + ElementPayload::updates_at(count, sizeof(std::int64_t)), updates,
                  count * sizeof(std::int64_t));
    }
    return payload;
  }
  std::vector<std::int64_t> value(std::size_t rank, Key key) {
    std::vector<std::int64_t> value(elements(rank).sizes().length(key));
    REQUIRE(elements(rank).read(key, reinterpret_cast<std::byte*>(value.data())));
    return value;
  }
  // A frame with one operation on elements of a key of rank 1, from rank 0.
  static std::vector<std::byte> frame(FrameKind kind, Key key, const std::vector<std::byte>& payload) {
    const std::size_t bytes = sizeof(OperationRecord) + payload.size();
    FrameHeader header;
    header.kind = static_cast<std::uint16_t>(kind);
    header.table = kTable;
    header.count = 1;
    header.record_bytes = static_cast<std::uint32_t>(bytes);
    std::vector<std::byte> packet(sizeof header + padded_bytes(bytes));
    std::memcpy(packet.data(), &header, sizeof header);
    const OperationRecord record{key.value(), 0, 1};
    std::memcpy(packet.data() + sizeof header, &record, sizeof record);
    if (!payload.empty())
      std::memcpy(packet.data() + sizeof header + sizeof record, payload.data(), payload.size());
    return packet;
  }
};

}  // namespace

TEST_CASE("Elements are pushed and pulled by message, one item for each run") {
  progress_role.assert_held();
  ElementRanks ranks;
  std::vector<std::int64_t> updates{1, 20, 300, 4000, 50000};
  OperationState& push = ranks.submit_elements(OperationKind::push_elements,
                                               {{Key(5), {1, 0, 1}}, {Key(4), {0}}, {Key(1), {1}}}, updates);
  CHECK_FALSE(push.done());
  CHECK(ranks.protocol(0)
            .outbox()
            .counters()
            .kinds[static_cast<std::size_t>(FrameKind::push_elements)]
            .records == 2);
  ranks.deliver_all();
  CHECK(push.done());
  CHECK(ranks.value(1, Key(5)) == std::vector<std::int64_t>{20, 301});
  CHECK(ranks.value(1, Key(4)) == std::vector<std::int64_t>{4000});
  CHECK(ranks.value(0, Key(1)) == std::vector<std::int64_t>{0, 50000});
  std::vector<std::int64_t> values(4, -1);
  OperationState& pull = ranks.submit_elements(OperationKind::pull_elements,
                                               {{Key(5), {1}}, {Key(1), {1}}, {Key(5), {0, 1}}}, values);
  ranks.deliver_all();
  CHECK(pull.done());
  CHECK(values == std::vector<std::int64_t>{301, 50000, 20, 301});
  CHECK(ranks.elements(0).counters().remote_pushes == 2);
  CHECK(ranks.elements(0).counters().remote_pulls == 2);
  CHECK(ranks.elements(0).counters().local_pulls == 1);
}

TEST_CASE("Keys in flight that are named again on the same route are not pinned, nor searched for") {
  progress_role.assert_held();
  ElementRanks ranks;
  // At its home, at a cached location, and one whose location becomes known in between.
  ranks.elements(0).remember_location(Key(6), Domain(2));
  std::vector<std::int64_t> updates{1, 1, 1};
  const std::vector<ElementRanks::Item> items{{Key(4), {0}}, {Key(6), {0}}, {Key(5), {1}}};
  OperationState& first = ranks.submit_elements(OperationKind::push_elements, items, updates);
  ranks.elements(0).remember_location(Key(5), Domain(2));
  OperationState& second = ranks.submit_elements(OperationKind::push_elements, items, updates);
  for (const std::size_t item : {0U, 1U}) {
    CHECK(first.items[item].pinned == nullptr);
    CHECK(second.items[item].pinned == nullptr);
  }
  CHECK(second.items[2].pinned != nullptr);
  CHECK(second.items[2].sent_to == Domain(1));
  ranks.deliver_all();
  CHECK(first.done());
  CHECK(second.done());
  CHECK(ranks.value(1, Key(5)) == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("Operations on elements wait for a key that arrives, and follow one that leaves") {
  progress_role.assert_held();
  ElementRanks ranks;
  // Rank 2 localizes key 5 of rank 1; rank 0's operation goes to rank 1, its home, which forwards it.
  OperationState& localize = ranks.worker(2).acquire();
  localize.kind = OperationKind::localize;
  localize.table = &ranks.elements(2);
  localize.items.emplace_back(Key(5), 0, 0);
  localize.remaining = 1;
  ranks.worker(2).opened(localize);
  ranks.protocol(2).localize_requests().handle_submission(localize);
  ranks.protocol(2).end_turn();
  // The home orders the move; the value stays in flight.
  REQUIRE(ranks.deliver_next().to == Rank(1));
  std::vector<std::int64_t> updates{7, 8};
  OperationState& push = ranks.submit_elements(OperationKind::push_elements, {{Key(5), {0, 1}}}, updates);
  std::vector<std::int64_t> values(2, -1);
  OperationState& pull = ranks.submit_elements(OperationKind::pull_elements, {{Key(5), {1, 0}}}, values);
  ranks.deliver_all();
  CHECK(localize.done());
  CHECK(push.done());
  CHECK(pull.done());
  CHECK(values == std::vector<std::int64_t>{8, 7});
  CHECK(ranks.value(2, Key(5)) == std::vector<std::int64_t>{7, 8});
  CHECK(ranks.elements(1).counters().forwarded == 2);
}

TEST_CASE("Malformed operations on elements are refused before anything is applied") {
  progress_role.assert_held();
  ElementRanks ranks;
  const std::int64_t update[]{5, 6};
  const auto refuse = [&](FrameKind kind, Key key, const std::vector<std::byte>& payload) {
    progress_role.assert_held();
    CHECK_THROWS_AS(ranks.protocol(1).handle_packet(Rank(0), ElementRanks::frame(kind, key, payload)),
                    ProtocolError);
    CHECK(ranks.value(1, Key(5)) == std::vector<std::int64_t>{0, 0});
  };
  const auto kind = GENERATE(OperationKind::pull_elements, OperationKind::push_elements);
  const FrameKind sent = frame_kind(kind);
  std::vector<std::byte> payload = ElementRanks::payload_of(kind, {0, 1}, update);
  SECTION("without a count") {
    refuse(sent, Key(5), {});
  }
  SECTION("too short") {
    payload.pop_back();
    refuse(sent, Key(5), payload);
  }
  SECTION("too long") {
    payload.resize(payload.size() + 4);
    refuse(sent, Key(5), payload);
  }
  SECTION("of no element") {
    refuse(sent, Key(5), ElementRanks::payload_of(kind, {}, update));
  }
  SECTION("of an element that the value does not have") {
    refuse(sent, Key(5), ElementRanks::payload_of(kind, {0, 2}, update));
    refuse(sent, Key(4), payload);
  }
  SECTION("with a count of another length") {
    const std::uint32_t count = 0xffff'ffffU;
    std::memcpy(payload.data(), &count, sizeof count);
    refuse(sent, Key(5), payload);
  }
}

TEST_CASE("Answers with another number of elements are refused") {
  progress_role.assert_held();
  ElementRanks ranks;
  std::vector<std::int64_t> values(2, -1);
  OperationState& pull = ranks.submit_elements(OperationKind::pull_elements, {{Key(5), {1, 0}}}, values);
  REQUIRE_FALSE(ranks.take_next().packet.empty());
  const auto answer = [&](std::size_t elements) {
    FrameHeader header;
    header.kind = static_cast<std::uint16_t>(FrameKind::pull_elements_answer);
    header.table = kTable;
    header.count = 1;
    header.record_bytes = static_cast<std::uint32_t>(sizeof(AnswerRecord) + elements * sizeof(std::int64_t));
    header.domain = 1;
    header.operation = pull.number;
    std::vector<std::byte> packet(sizeof header + padded_bytes(header.record_bytes));
    std::memcpy(packet.data(), &header, sizeof header);
    const std::uint32_t item = OperationState::kIndexBit;
    std::memcpy(packet.data() + sizeof header, &item, sizeof item);
    for (std::size_t i = 0; i < elements; ++i) {
      const auto element = static_cast<std::int64_t>(10 + i);
      std::memcpy(packet.data() + sizeof header + sizeof item + i * sizeof element, &element, sizeof element);
    }
    return packet;
  };
  for (const std::size_t elements : {0U, 1U, 3U}) {
    CHECK_THROWS_AS(ranks.protocol(0).handle_packet(Rank(1), answer(elements)), ProtocolError);
    CHECK(values == std::vector<std::int64_t>{-1, -1});
  }
  ranks.protocol(0).handle_packet(Rank(1), answer(2));
  CHECK(pull.done());
  CHECK(values == std::vector<std::int64_t>{10, 11});
}
