// Programs with one mistake each in how they announce accesses: the statistics name it.
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::Consistency;
using lapse::Key;
using lapse::Table;

namespace {

constexpr std::uint64_t kKeys = 4000;
constexpr std::size_t kBatch = 20;
constexpr std::int64_t kClocks = 400;

// One worker of each rank accesses a batch of keys in each clock.
struct Program {
  Table<float> table;
  Table<float> other;
  IntentWorker& worker;
  std::int64_t step = 0;

  // Different in each step and on each rank.
  std::vector<Key> batch(std::int64_t at) const {
    std::vector<Key> keys;
    for (std::size_t i = 0; i < kBatch; ++i)
      keys.emplace_back((static_cast<std::uint64_t>(at) * kBatch + i + 7 * worker.rank().index()) % kKeys);
    return keys;
  }
  void access(const std::vector<Key>& keys) const {
    std::vector<float> values(keys.size());
    worker.pull(table, keys, values).wait();
    worker.push(table, keys, values).wait();
  }
  Clock now(std::int64_t later = 0) const { return Clock(worker.current_clock().value() + later); }
};

struct Mistake {
  std::string name;
  RemoteCause cause;
  std::function<void(Program&)> step;
  Technique technique = Technique::adaptive;
  Consistency consistency = Consistency::eventual;
  int phases = 1;
  std::string table = "weights";  // that has the cause
};

// The announcements of a program without mistakes, for `ahead` clocks later.
void announce(Program& program, std::int64_t ahead) {
  program.worker.intent(program.table, program.batch(program.step + ahead), program.now(ahead),
                        program.now(ahead + 1));
}

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all{
      {"nothing is announced", RemoteCause::never_announced,
       [](Program& p) {
         p.access(p.batch(p.step));
         p.worker.advance_clock();
       }},
      {"the keys of another table are announced", RemoteCause::never_announced,
       [](Program& p) {
         p.worker.intent(p.other, p.batch(p.step + 50), p.now(50), p.now(51));
         p.access(p.batch(p.step));
         p.worker.advance_clock();
       }},
      {"the keys of another batch are announced", RemoteCause::never_announced,
       [](Program& p) {
         p.worker.intent(p.table, p.batch(p.step + 100), p.now(50), p.now(51));
         p.access(p.batch(p.step + 3 * kClocks / 2));
         p.worker.advance_clock();
       }},
      {"half of the keys are announced", RemoteCause::never_announced,
       [](Program& p) {
         std::vector<Key> half = p.batch(p.step + 50);
         half.resize(kBatch / 2);
         p.worker.intent(p.table, half, p.now(50), p.now(51));
         p.access(p.batch(p.step));
         p.worker.advance_clock();
       }},
      {"clocks count keys instead of batches", RemoteCause::before_start,
       [](Program& p) {
         const auto start = static_cast<std::int64_t>(kBatch) * (p.step + 50);
         p.worker.intent(p.table, p.batch(p.step + 50), Clock(start), Clock(start + 20));
         p.access(p.batch(p.step));
         p.worker.advance_clock();
       }},
      {"the clock is advanced in every tenth step", RemoteCause::before_start,
       [](Program& p) {
         p.worker.intent(p.table, p.batch(p.step + 50), Clock(p.step + 50), Clock(p.step + 51));
         p.access(p.batch(p.step));
         if (p.step % 10 == 9) p.worker.advance_clock();
       }},
      {"accesses come three clocks after what was announced", RemoteCause::after_end,
       [](Program& p) {
         for (std::int64_t ahead = p.step == 0 ? 0 : 50; ahead <= 50; ++ahead) announce(p, ahead);
         if (p.step >= 3) p.access(p.batch(p.step - 3));
         p.worker.advance_clock();
       }},
      {"intents end where they begin", RemoteCause::after_end,
       [](Program& p) {
         p.worker.intent(p.table, p.batch(p.step), p.now(), p.now());
         p.access(p.batch(p.step));
         p.worker.advance_clock();
       }},
      {"announced when accessed", RemoteCause::announced_late,
       [](Program& p) {
         announce(p, 0);
         p.access(p.batch(p.step));
         p.worker.advance_clock();
       }},
      {"several domains want the keys, which move only", RemoteCause::not_given,
       [](Program& p) {
         if (p.step == 0) p.worker.intent(p.table, p.batch(0), p.now(), p.now(kClocks));
         p.access(p.batch(0));
         p.worker.advance_clock();
       },
       Technique::relocation_only},
      {"several domains want the keys of a sequential table", RemoteCause::not_given,
       [](Program& p) {
         if (p.step == 0) p.worker.intent(p.table, p.batch(0), p.now(), p.now(kClocks));
         p.access(p.batch(0));
         p.worker.advance_clock();
       },
       Technique::adaptive, Consistency::sequential},
      {"the second phase counts clocks from 0", RemoteCause::after_end,
       [](Program& p) {
         const std::int64_t clock = p.step % (kClocks / 2);
         for (std::int64_t ahead = clock == 0 ? 0 : 50; ahead <= 50; ++ahead)
           p.worker.intent(p.table, p.batch(p.step + ahead), Clock(clock + ahead), Clock(clock + ahead + 1));
         p.access(p.batch(p.step));
         p.worker.advance_clock();
       },
       Technique::adaptive, Consistency::eventual, 2},
      {"a range ends before the last keys", RemoteCause::never_announced,
       [](Program& p) {
         if (p.step == 0) p.worker.intent(p.table, KeyRange{Key(0), Key(kKeys / 2)}, p.now(), p.now(kClocks));
         p.access(p.batch(p.step));
         p.worker.advance_clock();
       }},
      {"one of two tables is forgotten", RemoteCause::never_announced,
       [](Program& p) {
         for (std::int64_t ahead = p.step == 0 ? 0 : 50; ahead <= 50; ++ahead) announce(p, ahead);
         p.access(p.batch(p.step));
         std::vector<float> values(kBatch);
         p.worker.pull(p.other, p.batch(p.step), values).wait();
         p.worker.advance_clock();
       },
       Technique::adaptive, Consistency::eventual, 1, "other"},
      {"large batches, and clocks that count keys", RemoteCause::before_start,
       [](Program& p) {
         const auto keys_of = [&](std::int64_t at) {
           std::vector<Key> keys;
           for (std::uint64_t i = 0; i < 500; ++i)
             keys.emplace_back((static_cast<std::uint64_t>(at) * 500 + i) % kKeys);
           return keys;
         };
         p.worker.intent(p.table, keys_of(p.step + 4), Clock(500 * (p.step + 4)), Clock(500 * (p.step + 5)));
         p.access(keys_of(p.step));
         p.worker.advance_clock();
       }},
      {"phases of one step", RemoteCause::beginning,
       [](Program& p) {
         announce(p, 0);
         p.access(p.batch(p.step));
         p.worker.advance_clock();
       },
       Technique::adaptive, Consistency::eventual, kClocks},
  };
  return all;
}

RemoteCauses run(const Mistake& mistake) {
  Options options = lapse::test::options_of(mistake.technique);
  options.server.domain = {lapse::DomainChoice::Kind::rank, 1};
  ParameterManager manager(MPI_COMM_WORLD, options);
  const lapse::TableOptions table{.name = "weights", .keys = kKeys, .consistency = mistake.consistency};
  const auto weights = manager.create_table<float>(table);
  const auto other = manager.create_table<float>({.name = "other", .keys = kKeys});
  for (int phase = 0; phase < mistake.phases; ++phase) {
    manager.run_workers(1, [&](IntentWorker& worker) {
      Program program{weights, other, worker};
      const std::int64_t steps = kClocks / mistake.phases;
      for (std::int64_t step = 0; step < steps; ++step) {
        program.step = phase * steps + step;
        // The ranks run together.
        if (program.step % 10 == 0) worker.barrier();
        mistake.step(program);
      }
    });
  }
  const Statistics statistics = manager.statistics();
  manager.close();
  RemoteCauses causes;
  for (const RemoteCauses& one : statistics.intents.causes)
    if (one.table == mistake.table) causes = one;
  return causes;
}

}  // namespace

TEST_CASE("The statistics name the mistake of a program") {
  for (const Mistake& mistake : mistakes()) {
    const RemoteCauses causes = run(mistake);
    std::string text;
    for (const RemoteCauseName& name : kRemoteCauses)
      text += fmt::format("{} {}, ", name.name, causes[name.cause]);
    INFO(mistake.name << ": " << text);
    CHECK(causes.largest().cause == mistake.cause);
    CHECK(causes.sum() > 0);
  }
}
