// Waits that take too long with replicated keys: rank 2 owns the key, and is stopped. Prints "the report is
// right" once rank 0 has logged the expected report.
#include <mpi.h>

#include <csignal>
#include <thread>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "test/mpi/stall_case.hpp"
#include "test/mpi/stall_observer.hpp"

using namespace lapse::test;
using lapse::Clock;
using lapse::Key;

namespace {

constexpr Key kKey(8);  // its home is rank 2
const std::vector<std::int64_t> kOne{1};

enum class Wait { pull, relocation, wait_sync, sync_barrier };

// Waits until a round has requested the keys of intents.
void advance_a_while(adapm::IntentWorker& worker) {
  const auto later = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < later) worker.advance_clock();
}

void wait(const Job& job, Wait what, std::vector<std::string> texts) {
  adapm::Options settings;
  settings.server = options(kRanksAlone);
  settings.technique =
      what == Wait::relocation ? adapm::Technique::relocation_only : adapm::Technique::replication_only;
  adapm::ParameterManager manager(MPI_COMM_WORLD, settings);
  const auto table =
      manager.create_table<std::int64_t>({.name = "copied", .keys = 9, .home = lapse::HomeMapKind::range});
  texts.push_back(process_of(job, 2));
  texts.emplace_back("does not answer: stopped");
  StallObserver observer(job.rank.value() == 0, texts, [&] { kill(job.processes[2], SIGCONT); });
  manager.run_workers(job.rank.value() == 2 ? 0 : 1, [&](adapm::IntentWorker& worker) {
    std::vector<std::int64_t> value(1);
    const auto stop_owner = [&] {
      kill(job.processes[2], SIGSTOP);
      while (!StallObserver::stopped(job.processes[2])) std::this_thread::yield();
    };
    const bool first = worker.rank().value() == 0;
    if (what == Wait::pull) {
      if (!first) return;
      stop_owner();
      worker.intent(table, kKey, Clock(0), Clock(1'000'000'000));
      advance_a_while(worker);
      worker.pull(table, kKey, value).wait();
      return;
    }
    if (what == Wait::relocation) {
      if (first) {
        stop_owner();
        worker.intent(table, kKey, Clock(0), Clock(1'000'000'000));
        advance_a_while(worker);
      }
      worker.sync_barrier();
      return;
    }
    worker.intent(table, kKey, Clock(0), Clock(1'000'000'000));
    while (!worker.pull_if_local(table, kKey, value)) worker.advance_clock();
    worker.barrier();
    if (first) {
      stop_owner();
      worker.push(table, kKey, kOne);
    }
    if (what == Wait::sync_barrier) {
      worker.sync_barrier();
    } else if (first) {
      worker.wait_sync();
    }
  });
  observer.finish();
  manager.close();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string change =
      "rank 0 is not synced: changes of its copies are not acknowledged: key 8 of table 'copied'; the owner "
      "was last on rank 2; for 1.";
  return run_stall_case(
      argc, argv,
      {{"copy_awaited",
        [&](const Job& job) {
          wait(job, Wait::pull,
               {"pull of key 8 of table 'copied': its home, rank 2, does not answer",
                "; rank 0 asked rank 2 for a copy 1.", " s ago, which has not arrived"});
        }},
       {"relocation",
        [&](const Job& job) {
          wait(job, Wait::relocation,
               {"for all workers and ranks at a sync_barrier",
                "rank 0 is not synced: keys are on their way to it, or are leased there: key 8 of table "
                "'copied'; its home is on rank 2; for 1."});
        }},
       {"wait_sync",
        [&](const Job& job) {
          wait(job, Wait::wait_sync, {"for copies that are merged and refreshed (wait_sync)", change});
        }},
       {"sync_barrier", [&](const Job& job) {
          wait(job, Wait::sync_barrier, {"for all workers and ranks at a sync_barrier", change});
        }}});
}
