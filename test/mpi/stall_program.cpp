// Waits that take too long, one case per run. Rank 0 reads its own log and lets the other ranks continue once
// the report names what it should, or after a timeout. Then prints "the report is right".
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/mpi/stall_case.hpp"
#include "test/mpi/stall_observer.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr Key kKey(5);

// Rank 1 makes its server late.
void making(const Job& job, bool has_options) {
  setenv("LAPSE_STALL_REPORT", has_options ? "0" : "1", 1);
  StallObserver observer(
      job.rank.value() == 0,
      {"rank 0 has waited for 1 s in the making of a server for ranks that do not make it"},
      [&] { kill(job.processes[1], SIGUSR1); });
  if (job.rank.value() == 1) idle_here();
  ParameterServer server =
      has_options ? ParameterServer(MPI_COMM_WORLD, options({})) : ParameterServer(MPI_COMM_WORLD);
  observer.finish();
  server.close();
}

// Rank 1 is stopped while it holds the latch of a key that the ranks share.
void latch(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options({}));
  const auto table = server.create_table<std::int64_t>({.name = "shared", .keys = 8});
  StallObserver observer(job.rank.value() == 0,
                         {"the latch of key 5 of table 'shared'", process_of(job, 1), "stopped"},
                         [&] { kill(job.processes[1], SIGCONT); });
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<std::int64_t> one{1};
    if (worker.rank().value() == 1) {
      worker.localize(table, kKey).wait();
      worker.barrier();
      worker.update_if_local(table, kKey, [](std::span<std::int64_t>) { stop_here(); });
    } else {
      worker.barrier();
      // The other rank needs some time to take the latch.
      while (!StallObserver::stopped(job.processes[1])) std::this_thread::yield();
      worker.push(table, kKey, one);
    }
  });
  observer.finish();
  server.close();
}

// Rank 1 does not advance its clock.
void clock_behind(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options(kRanksAlone));
  const auto table =
      server.create_table<std::int64_t>({.name = "clocked", .keys = 8, .consistency = Consistency::cap(1)});
  StallObserver observer(
      job.rank.value() == 0,
      {"worker 0 on rank 0 has waited for 1 s for slower workers: at clock 2 it may access table 'clocked', "
       "with staleness 1, when all others have reached clock 1",
       "worker 1 on rank 1 is behind: it runs code of the application, and has not called advance_clock"},
      [&] { kill(job.processes[1], SIGUSR1); });
  server.run_workers(1, [&](Worker& worker) {
    if (worker.rank().value() == 1) return idle_here();
    std::vector<std::int64_t> value(1);
    for (int clock = 0; clock < 2; ++clock) worker.advance_clock();
    worker.pull(table, kKey, value).wait();
  });
  observer.finish();
  server.close();
}

// Rank 2 is stopped while it owns a key whose home is another rank.
void owner(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options(kRanksAlone));
  const auto table =
      server.create_table<std::int64_t>({.name = "moved", .keys = 9, .home = HomeMapKind::range});
  StallObserver observer(
      job.rank.value() == 0,
      {"worker 0 on rank 0 has waited for 1 s for an answer: 1 operation with 1 key is unanswered",
       "pull of key 5 of table 'moved': owned by rank 2", process_of(job, 2), "does not answer: stopped"},
      [&] { kill(job.processes[2], SIGCONT); });
  server.run_workers(1, [&](Worker& worker) {
    if (worker.rank().value() == 2) worker.localize(table, kKey).wait();
    worker.barrier();
    if (worker.rank().value() == 2) stop_here();
    if (worker.rank().value() == 0) {
      while (!StallObserver::stopped(job.processes[2])) std::this_thread::yield();
      std::vector<std::int64_t> value(1);
      worker.pull(table, kKey, value).wait();
    }
  });
  observer.finish();
  server.close();
}

// Rank 2 is stopped while it has a key that rank 0 localizes: the home already names rank 0.
void passed_on(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options(kRanksAlone));
  const auto table =
      server.create_table<std::int64_t>({.name = "moved", .keys = 9, .home = HomeMapKind::range});
  StallObserver observer(job.rank.value() == 0,
                         {"localize of key 5 of table 'moved': on its way to rank 0, perhaps from rank 2, "
                          "which does not answer; queued there: 1 operation, for 1.",
                          process_of(job, 2), "does not answer: stopped"},
                         [&] { kill(job.processes[2], SIGCONT); });
  server.run_workers(1, [&](Worker& worker) {
    if (worker.rank().value() == 2) worker.localize(table, kKey).wait();
    worker.barrier();
    if (worker.rank().value() == 2) stop_here();
    if (worker.rank().value() == 0) {
      while (!StallObserver::stopped(job.processes[2])) std::this_thread::yield();
      const Operation arrival = worker.localize(table, kKey);
      worker.push(table, kKey, std::vector<std::int64_t>{1});
      worker.wait_all();
    }
  });
  observer.finish();
  server.close();
}

// A worker of rank 1 leases a key and does not release it.
void leased(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options(kRanksAlone));
  const auto table =
      server.create_table<std::int64_t>({.name = "blocks", .keys = 8, .home = HomeMapKind::range});
  StallObserver observer(
      job.rank.value() == 0,
      {"push of key 5 of table 'blocks': leased by a worker of rank 1; queued there: 1 operation"},
      [&] { kill(job.processes[1], SIGUSR1); });
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<std::int64_t> one{1};
    if (worker.rank().value() == 1) {
      auto lease = worker.lease(table, std::span(&kKey, 1));
      MPI_Barrier(MPI_COMM_WORLD);
      idle_here();
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
      worker.push(table, kKey, one).wait();
    }
  });
  observer.finish();
  server.close();
}

// A worker of rank 1 leases a key and does not release it. One worker of rank 0 leases it, too; or two do,
// one of which localizes it: the home then names rank 0.
void lease_against(const Job& job, bool localizes) {
  ParameterServer server(MPI_COMM_WORLD, options(kRanksAlone));
  const auto table =
      server.create_table<std::int64_t>({.name = "blocks", .keys = 8, .home = HomeMapKind::range});
  StallObserver observer(
      job.rank.value() == 0,
      {"for a lease", localizes ? "for a localize" : "for a lease",
       "localize of key 5 of table 'blocks': leased by a worker of rank 1; queued there: the "
       "order to transfer it, for"},
      [&] { kill(job.processes[1], SIGUSR1); });
  std::atomic<bool> is_leased{false};
  server.run_workers(2, [&](Worker& worker) {
    if (worker.index() == 2) {
      auto lease = worker.lease(table, std::span(&kKey, 1));
      MPI_Barrier(MPI_COMM_WORLD);
      idle_here();
    }
    if (worker.rank() == Rank(0)) {
      if (worker.index() == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        is_leased = true;
      }
      while (!is_leased) std::this_thread::yield();
      if (worker.index() == 0) {
        auto lease = worker.lease(table, std::span(&kKey, 1));
      } else if (localizes) {
        worker.localize(table, kKey).wait();
      }
    }
  });
  observer.finish();
  server.close();
}

// Rank 1 does not call run_workers: it is stopped, or does something else.
void call(const Job& job, bool stopped) {
  ParameterServer server(MPI_COMM_WORLD, options({}));
  StallObserver observer(
      job.rank.value() == 0,
      {"rank 0 has waited for 1 s in run_workers, run_here or start_progress; has not arrived:",
       process_of(job, 1), stopped ? ": stopped" : ": runs"},
      [&] { kill(job.processes[1], stopped ? SIGCONT : SIGUSR1); });
  if (job.rank.value() == 1) stopped ? stop_here() : idle_here();
  server.run_workers(1, [](Worker& worker) { worker.barrier(); });
  observer.finish();
  server.close();
}

// Worker 3, on rank 1, does not reach a barrier.
void barrier(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options({}));
  StallObserver observer(job.rank.value() == 0,
                         {" on rank 0 has waited for 1 s for the other workers at a barrier",
                          "worker 3 on rank 1 has not arrived: it runs code of the application"},
                         [&] { kill(job.processes[1], SIGUSR1); });
  server.run_workers(2, [](Worker& worker) {
    worker.barrier();
    if (worker.index() == 3) idle_here();
    worker.barrier();
  });
  observer.finish();
  server.close();
}

// Two workers of rank 0 begin to wait for worker 3 at different times, more than half of a report interval
// apart. Only one reports.
void barrier_apart(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options({}));
  StallObserver observer(job.rank.value() == 0, {"has waited for 2 s for the other workers at a barrier"},
                         [&] { kill(job.processes[1], SIGUSR1); });
  server.run_workers(2, [](Worker& worker) {
    worker.barrier();
    if (worker.index() == 3) idle_here();
    const auto later = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
    while (worker.index() == 1 && std::chrono::steady_clock::now() < later) std::this_thread::yield();
    worker.barrier();
  });
  if (job.rank.value() == 0) {
    const std::string text = observer.text();
    if (text.find("worker 0 on rank 0 has waited") != std::string::npos &&
        text.find("worker 1 on rank 0 has waited") != std::string::npos)
      throw std::runtime_error("two workers of one rank report: " + text);
  }
  observer.finish();
  server.close();
}

// No thread of rank 1 is attached, while one of rank 0 waits at a barrier; later rank 1's slot becomes free
// again.
void detached(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options({}));
  const auto table = server.create_table<float>({.name = "attached", .keys = 8});
  StallObserver observer(job.rank.value() == 0,
                         {"worker 0 on rank 0 has waited for 1 s for the other workers at a barrier",
                          "worker 1 on rank 1 has not arrived: no thread of the application is attached"},
                         [&] { kill(job.processes[1], SIGUSR1); });
  server.start_progress(1);
  if (job.rank.value() == 1) {
    AttachedWorker first = server.attach();
    first->push(table, kKey, std::vector<float>{1});
    first.detach();
    idle_here();
  }
  AttachedWorker worker = server.attach();
  worker->barrier();
  worker.detach();
  server.stop_progress();
  observer.finish();
  server.close();
}

// Rank 1 is stopped; the other ranks wait for it at the end of run_workers.
void phase_end(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options({}));
  StallObserver observer(job.rank.value() == 0,
                         {"rank 0 has waited for 1 s at the end of a phase", process_of(job, 1), ": stopped"},
                         [&] { kill(job.processes[1], SIGCONT); });
  server.run_workers(1, [](Worker& worker) {
    worker.barrier();
    if (worker.rank().value() == 1) stop_here();
  });
  observer.finish();
  server.close();
}

// Rank 1 does not call stop_progress, and has no attached thread.
void not_stopped(const Job& job) {
  ParameterServer server(MPI_COMM_WORLD, options({}));
  StallObserver observer(job.rank.value() == 0,
                         {"rank 0 has waited for 1 s at the end of a phase", process_of(job, 1),
                          "has not called stop_progress, and no thread is attached there: runs"},
                         [&] { kill(job.processes[1], SIGUSR1); });
  server.start_progress(job.rank.value() == 1 ? 12 : 1);
  if (job.rank.value() == 1) idle_here();
  server.stop_progress();
  observer.finish();
  server.close();
}

// Workers return while others wait for them at a barrier: every rank throws an error at once.
void returned(const Job& job) {
  Options settings = options({});
  settings.stall_report = std::chrono::seconds(0);
  ParameterServer server(MPI_COMM_WORLD, settings);
  std::string text;
  try {
    server.run_workers(2, [&](Worker& worker) {
      if (worker.index() != static_cast<std::size_t>(2 * job.ranks - 1)) worker.barrier();
    });
  } catch (const PeerFailed& error) {
    text = error.what();
  }
  const std::string expected = "worker " + std::to_string(2 * job.ranks - 1) + " on rank " +
                               std::to_string(job.ranks - 1) + " has returned from its function";
  if (text.find(expected) == std::string::npos)
    throw std::runtime_error("rank " + std::to_string(job.rank.value()) + " got: " + text);
  server.close();
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.rank.value() == 0) std::puts("the report is right");
}

}  // namespace

int main(int argc, char** argv) {
  return lapse::test::run_stall_case(
      argc, argv,
      {{"clock_behind", clock_behind},
       {"latch", latch},
       {"owner", owner},
       {"passed_on", passed_on},
       {"leased", leased},
       {"lease_against_lease", [](const Job& job) { lease_against(job, false); }},
       {"localize_against_lease", [](const Job& job) { lease_against(job, true); }},
       {"call_stopped", [](const Job& job) { call(job, true); }},
       {"making", [](const Job& job) { making(job, false); }},
       {"making_with_options", [](const Job& job) { making(job, true); }},
       {"call_late", [](const Job& job) { call(job, false); }},
       {"barrier", barrier},
       {"barrier_apart", barrier_apart},
       {"detached", detached},
       {"phase_end", phase_end},
       {"not_stopped", not_stopped},
       {"returned", returned}});
}
