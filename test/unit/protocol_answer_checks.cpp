// Answers that do not match their operation are refused before any of them is applied.
#include <cstring>
#include <span>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/records/operation_records.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;

namespace {

struct Value {
  std::uint32_t item;
  std::int64_t value;
};

// Rank 0 pulls three keys of rank 1. The test makes the answers.
class AnsweredByHand : public test::WaitingRanks {
 public:
  AnsweredByHand() LAPSE_REQUIRES(progress_role)
      : operation_(submit(0, OperationKind::pull, {Key(4), Key(5), Key(6)}, &rows_)) {
    REQUIRE_FALSE(take_next().packet.empty());
  }

  std::vector<std::byte> answers(FrameKind kind, const std::vector<Value>& values,
                                 std::size_t more_bytes = 0) const {
    const std::size_t bytes = sizeof(AnswerRecord) + sizeof(std::int64_t) + more_bytes;
    std::vector<std::byte> packet = frame(kind, values.size(), bytes, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::byte* const record = packet.data() + sizeof(FrameHeader) + i * bytes;
      std::memcpy(record, &values[i].item, sizeof values[i].item);
      std::memcpy(record + sizeof(AnswerRecord), &values[i].value, sizeof values[i].value);
    }
    return packet;
  }
  std::vector<std::byte> run(std::int32_t first, const std::vector<std::int64_t>& values) const {
    std::vector<std::byte> packet =
        frame(FrameKind::pull_run_answer, values.size(), sizeof(std::int64_t), first);
    std::memcpy(packet.data() + sizeof(FrameHeader), values.data(), values.size() * sizeof(std::int64_t));
    return packet;
  }
  std::vector<std::byte> frame(FrameKind kind, std::size_t count, std::size_t bytes,
                               std::int32_t origin) const {
    FrameHeader header;
    header.kind = static_cast<std::uint16_t>(kind);
    header.count = static_cast<std::uint32_t>(count);
    header.record_bytes = static_cast<std::uint32_t>(bytes);
    header.origin = origin;
    header.domain = 1;
    header.operation = operation_.number;
    std::vector<std::byte> packet(sizeof header + padded_bytes(count * bytes));
    std::memcpy(packet.data(), &header, sizeof header);
    return packet;
  }
  void take(const std::vector<std::byte>& packet) LAPSE_REQUIRES(progress_role) {
    protocol(0).handle_packet(Rank(1), packet);
  }
  // The packet is refused, and no part of it has been applied.
  void refuse(const std::vector<std::byte>& packet) LAPSE_REQUIRES(progress_role) {
    const std::vector<std::int64_t> rows = rows_;
    const std::uint32_t remaining = operation_.remaining;
    CHECK_THROWS_AS(take(packet), ProtocolError);
    CHECK(rows_ == rows);
    CHECK(operation_.remaining == remaining);
    CHECK(operation_.failure == nullptr);
  }
  const std::vector<std::int64_t>& rows() const { return rows_; }
  bool done() const { return operation_.done(); }

 private:
  std::vector<std::int64_t> rows_;
  OperationState& operation_;
};

constexpr auto kAnswer = FrameKind::pull_answer;

}  // namespace

TEST_CASE("answers of which one is wrong change nothing; the right ones are taken afterwards") {
  progress_role.assert_held();
  AnsweredByHand ranks;
  SECTION("a key that was not asked for") {
    ranks.refuse(ranks.answers(kAnswer, {{0, 7}, {1, 8}, {3, 9}}));
  }
  SECTION("a key named twice") {
    ranks.refuse(ranks.answers(kAnswer, {{0, 7}, {1, 8}, {0, 9}}));
  }
  SECTION("a key named twice, by position and by index") {
    ranks.refuse(ranks.answers(kAnswer, {{0, 7}, {1, 8}, {OperationState::kIndexBit | 1U, 9}}));
  }
  SECTION("more keys than are unanswered") {
    ranks.refuse(ranks.answers(kAnswer, {{0, 7}, {1, 8}, {2, 9}, {2, 9}}));
  }
  SECTION("values of another length") {
    ranks.refuse(ranks.answers(kAnswer, {{0, 7}, {1, 8}}, 8));
  }
  SECTION("a failure of a key that was not asked for") {
    ranks.refuse(ranks.answers(FrameKind::failed_answer, {{0, 65}, {5, 66}}));
  }
  SECTION("a failure without a message") {
    ranks.refuse(ranks.frame(FrameKind::failed_answer, 2, sizeof(AnswerRecord), 0));
  }
  CHECK(ranks.rows() == std::vector<std::int64_t>(3, -1));
  ranks.take(ranks.answers(kAnswer, {{2, 9}, {0, 7}}));
  ranks.take(ranks.answers(kAnswer, {{1, 8}}));
  CHECK(ranks.done());
  CHECK(ranks.rows() == std::vector<std::int64_t>{7, 8, 9});
}

TEST_CASE("answers for a key that was answered before change nothing") {
  progress_role.assert_held();
  AnsweredByHand ranks;
  ranks.take(ranks.answers(kAnswer, {{1, 8}}));
  SECTION("one by one") {
    ranks.refuse(ranks.answers(kAnswer, {{0, 17}, {1, 18}}));
  }
  SECTION("one by one, in the other order") {
    ranks.refuse(ranks.answers(kAnswer, {{1, 18}, {0, 17}}));
  }
  SECTION("in a run") {
    ranks.refuse(ranks.run(0, {17, 18}));
  }
  SECTION("in a run that begins with it") {
    ranks.refuse(ranks.run(1, {18, 19}));
  }
  SECTION("in a run of more keys than there are") {
    ranks.refuse(ranks.run(2, {19, 20}));
  }
  CHECK(ranks.rows() == std::vector<std::int64_t>{-1, 8, -1});
  ranks.take(ranks.run(0, {7}));
  ranks.take(ranks.run(2, {9}));
  CHECK(ranks.done());
  CHECK(ranks.rows() == std::vector<std::int64_t>{7, 8, 9});
}
