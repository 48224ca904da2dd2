// The rounds of a rank in one phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "adapm/intents/intent_rounds.hpp"
#include "lapse/protocol/worker/worker_clock.hpp"
#include "test/support/catch.hpp"
#include "test/unit/adapm_want_recorder.hpp"

namespace adapm::test {

using Numbers = std::vector<std::uint64_t>;

struct Rounds {
  explicit Rounds(std::size_t workers, const Options& options = {}) : rounds(options) {
    phase = rounds.begin_phase(workers);
    for (std::size_t worker = 0; worker < workers; ++worker)
      rounds.worker(worker)->use_clock(clocks.emplace_back(std::make_shared<lapse::WorkerClock>()));
  }

  void signal(std::size_t worker, const Numbers& numbers, std::int64_t start, std::int64_t end,
              std::uint32_t table = 0) {
    std::vector<lapse::Key> keys;
    for (const std::uint64_t number : numbers) keys.emplace_back(number);
    const Intent intent{
        .table = lapse::TableId(table), .start = lapse::Clock(start), .end = lapse::Clock(end)};
    REQUIRE(rounds.worker(worker)->signal(phase, intent, keys, true));
  }
  void signal_range(std::size_t worker, KeyRange range, std::int64_t start, std::int64_t end) {
    const Intent intent{.start = lapse::Clock(start), .end = lapse::Clock(end), .range = range};
    REQUIRE(rounds.worker(worker)->signal(phase, intent, {}, true));
  }
  void advance(std::size_t worker, std::int64_t steps = 1) {
    for (; steps > 0; --steps) clocks[worker]->advance();
  }
  void round() {
    lapse::progress_role.assert_held();
    sink.clear_changes();
    rounds.begin_round(sink);
  }

  IntentRounds rounds;
  WantRecorder sink;
  std::uint64_t phase;
  std::vector<std::shared_ptr<lapse::WorkerClock>> clocks;  // by worker
};

}  // namespace adapm::test
