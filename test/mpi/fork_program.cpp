// Children made by fork, at many points of the life of a server. In a child, calls throw typed errors, and
// handles end without an effect. The parent's job continues with correct values.
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/io/loading/prefetching_loader.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/jobs/job_control.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/server_expect.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

constexpr std::uint64_t kKeys = 40;
constexpr int kLeft = 7;  // the status of a child that leaves the function
using Values = std::vector<std::int64_t>;
using Numbers = Table<std::int64_t>;

// Called in a child: ends it if it hangs.
void limit_child() {
  constexpr unsigned kSeconds = 30;
  alarm(kSeconds);
}

void expect_status(pid_t child, int expected, std::string_view what) {
  int status = 0;
  expect(waitpid(child, &status, 0) == child, "the end of a child");
  expect(WIFEXITED(status) && WEXITSTATUS(status) == expected,
         std::string(what) + ": a child with status " + std::to_string(expected) + ", found " +
             (WIFEXITED(status) ? std::to_string(WEXITSTATUS(status))
                                : "signal " + std::to_string(WTERMSIG(status))));
}

// Calls f in a child that ends by _exit, with success unless f throws.
void in_child(std::string_view what, const std::function<void()>& f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    limit_child();
    try {
      f();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in a child, %s: %s\n", std::string(what).c_str(), error.what());
      _exit(EXIT_FAILURE);
    }
    _exit(EXIT_SUCCESS);
  }
  expect_status(child, EXIT_SUCCESS, what);
}

template <class F>
void expect_refused(const char* call, F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const UsageError& error) {
    expect(std::string_view(error.what()).find("made by fork") != std::string_view::npos,
           std::string(call) + " to be refused because of fork: " + error.what());
    return;
  }
  expect(false, std::string(call) + " to be refused in a child");
}

// --- calls of a child

void use_server(ParameterServer& server, const Numbers& table) {
  expect_refused("create_table", [&] { server.create_table<float>({.keys = 3}); });
  expect_refused("register_function",
                 [&] { server.register_function<std::int64_t>("f", [](Key, std::span<std::int64_t>) {}); });
  expect_refused("run_workers", [&] { server.run_workers(2, [](Worker&) {}); });
  expect_refused("run_here", [&] { server.run_here([](Worker&) {}); });
  expect_refused("start_progress", [&] { server.start_progress(1); });
  expect_refused("stop_progress", [&] { server.stop_progress(); });
  expect_refused("attach", [&] { static_cast<void>(server.attach()); });
  expect_refused("progress", [&] { server.progress(); });
  expect_refused("mpi_calls", [&] { static_cast<void>(server.mpi_calls()); });
  expect_refused("statistics", [&] { server.statistics(); });
  expect_refused("exchange", [&] { server.exchange("e", [] { return std::string(); }); });
  expect_refused("request_stop", [&] { server.request_stop(); });
  expect_refused("stop_requested", [&] { static_cast<void>(server.stop_requested()); });
  expect_refused("memory_use", [&] { static_cast<void>(server.memory_use(table)); });
  expect_refused("estimate_memory", [&] { static_cast<void>(server.estimate_memory<float>({.keys = 3})); });
  // Constants can be read.
  expect(server.rank().value() < server.ranks() && table.keys() == kKeys, "constants");
  server.close();
}

template <class W>
void use_worker(W& worker, const Numbers& table) {
  std::array<std::int64_t, 1> value = {1000};
  const auto keys = key_range(0, kKeys);
  Values values(kKeys, 1000);
  for (const Key key : keys) {
    expect_refused("pull", [&] { worker.pull(table, key, value).wait(); });
    expect_refused("push", [&] { worker.push(table, key, value); });
    expect_refused("pull_if_local", [&] { worker.pull_if_local(table, key, value); });
    expect_refused("update_if_local", [&] {
      worker.update_if_local(table, key, [](std::span<std::int64_t> one) { one[0] = 1000; });
    });
    expect_refused("locality", [&] { worker.locality(table, key); });
  }
  expect_refused("pull of many", [&] { worker.pull(table, keys, values).wait(); });
  expect_refused("push of many", [&] { worker.push(table, keys, values); });
  expect_refused("set", [&] { worker.set(table, keys, values); });
  expect_refused("localize", [&] { worker.localize(table, keys); });
  expect_refused("lease", [&] { static_cast<void>(worker.lease(table, keys)); });
  expect_refused("for_each_local",
                 [&] { worker.for_each_local(table, [](Key, std::span<const std::int64_t>) {}); });
  expect_refused("wait_all", [&] { worker.wait_all(); });
  expect_refused("wait_sync", [&] { worker.wait_sync(); });
  expect_refused("barrier", [&] { worker.barrier(); });
  expect_refused("sync_barrier", [&] { worker.sync_barrier(); });
  expect_refused("all_reduce", [&] { worker.all_reduce(std::span<std::int64_t>(value)); });
  expect_refused("broadcast", [&] { worker.broadcast(std::as_writable_bytes(std::span(value))); });
}

// --- places where children are made

// The parent's job: each worker adds 1 to every key, and checks the sum.
void add_and_check(Worker& worker, const Numbers& table, std::int64_t before) {
  const auto keys = key_range(0, kKeys);
  worker.barrier();
  worker.push(table, keys, Values(kKeys, 1));
  worker.sync_barrier();
  Values values(kKeys);
  worker.pull(table, keys, values).wait();
  expect(values == Values(kKeys, before + static_cast<std::int64_t>(worker.count())),
         "what the parents pushed");
  worker.barrier();
}

void between_phases(adapm::ParameterManager& manager, const Numbers& table) {
  in_child("calls between phases", [&] {
    use_server(manager.server(), table);
    expect_refused("a phase", [&] { manager.run_workers(1, [](adapm::IntentWorker&) {}); });
    expect_refused("run_here of the manager", [&] { manager.run_here([](adapm::IntentWorker&) {}); });
    expect_refused("start_progress of the manager", [&] { manager.start_progress(1); });
    expect_refused("statistics of the manager", [&] { manager.statistics(); });
    expect_refused("create_sampler", [&] {
      manager.create_sampler(table, adapm::Distribution::uniform({Key(0), Key(kKeys)}));
    });
    manager.close();
    manager.close();
  });
}

void in_run_here(adapm::ParameterManager& manager, const Numbers& table) {
  const pid_t parent = getpid();
  pid_t child = 0;
  try {
    manager.run_here([&](adapm::IntentWorker& worker) {
      add_and_check(worker, table, 0);
      child = fork();
      if (child == 0) {
        limit_child();
        use_worker(worker, table);
        expect_refused("advance_clock", [&] { worker.advance_clock(); });
        expect_refused("intent", [&] { worker.intent(table, Key(0), worker.current_clock(), Clock(9)); });
        return;  // does not end the phase
      }
      expect_status(child, kLeft, "a worker of run_here");
      add_and_check(worker, table, static_cast<std::int64_t>(worker.count()));
    });
  } catch (const std::exception& error) {
    if (getpid() == parent) throw;
    const bool refused = std::string_view(error.what()).find("made by fork") != std::string_view::npos;
    if (!refused) std::fprintf(stderr, "a child of run_here: %s\n", error.what());
    _exit(refused ? kLeft : EXIT_FAILURE);
  }
  if (getpid() != parent) _exit(EXIT_FAILURE);
}

// Children of worker threads: the thread that would use their return value does not exist in the child.
void in_run_workers(adapm::ParameterManager& manager, const Numbers& table, std::int64_t before) {
  manager.run_workers(2, [&](adapm::IntentWorker& worker) {
    add_and_check(worker, table, before);
    if (worker.local_index() == 0) {
      in_child("a worker of run_workers", [&] { use_worker(worker, table); });
      for (const bool throws : {false, true}) {
        const pid_t child = fork();
        if (child == 0) {
          limit_child();
          if (throws) throw std::runtime_error("a child that fails");
          return;
        }
        expect_status(child, EXIT_FAILURE, "a child that leaves the function of a worker");
      }
    }
    add_and_check(worker, table, before + static_cast<std::int64_t>(worker.count()));
  });
}

// A child inherits its parent's handles: an operation, a lease, samples, a slot, a loader.
void with_handles(adapm::ParameterManager& manager, const Numbers& table, std::int64_t before) {
  const auto sampler = manager.create_sampler(table, adapm::Distribution::uniform({Key(0), Key(kKeys)}));
  manager.start_progress(1);
  {
    std::optional<adapm::AttachedIntentWorker> attached(manager.attach());
    adapm::IntentWorker& worker = **attached;
    add_and_check(worker, table, before);
    io::PrefetchingLoader<int> loader({.ahead = 2}, [&](int& batch, std::uint64_t number) {
      batch = static_cast<int>(number);
      return number < 100;
    });
    expect(*loader.next() == 0, "the first batch");
    auto sample = std::make_optional(
        worker.prepare_sample(sampler, 5, worker.current_clock(), Clock(worker.current_clock().value() + 5)));
    // A key of another domain, if there is one.
    std::array<std::int64_t, 1> value = {0};
    std::optional<Operation> pending;
    for (const Key key : key_range(0, kKeys)) {
      if (!pending && worker.locality(table, key) != Locality::local)
        pending = worker.pull(table, std::span(&key, 1), value);
    }
    in_child("an attached worker", [&] {
      use_worker(worker, table);
      if (pending) {
        expect_refused("wait of an operation", [&] { pending->wait(); });
        expect_refused("done of an operation", [&] { static_cast<void>(pending->done()); });
        pending.reset();
      }
      expect_refused("attach of the manager", [&] { static_cast<void>(manager.attach()); });
      std::vector<Key> taken(1);
      expect_refused("take_keys", [&] { worker.take_keys(*sample, taken); });
      expect_refused("prepare_sample",
                     [&] { static_cast<void>(worker.prepare_sample(sampler, 5, Clock(0), Clock(5))); });
      expect_refused("a loader", [&] { loader.next(); });
      loader.stop();
      sample.reset();
      attached.reset();
    });
    expect(*loader.next() == 1, "the second batch");
    pending.reset();
    sample.reset();
    std::optional<Lease> lease;
    const Key own(static_cast<std::uint64_t>(manager.rank().value()));
    lease.emplace(worker.lease(table, std::span(&own, 1)));
    in_child("a lease", [&] {
      expect_refused("the values of a lease", [&] { lease->values(table); });
      lease->release();
      lease.reset();
      attached.reset();
    });
    expect(lease->values(table)[0].size() == 1, "the lease of the parent");
    lease.reset();
    add_and_check(worker, table, before + static_cast<std::int64_t>(worker.count()));
  }
  manager.stop_progress();
}

void with_checkpoints(adapm::ParameterManager& manager, const Numbers& table, const std::string& folder) {
  JobControl job(manager.server(), {});
  auto checkpoints = std::make_optional<Checkpoints>(manager.server(), CheckpointSettings{.folder = folder});
  checkpoints->add(table);
  checkpoints->save_async(1);
  in_child("checkpoints", [&] {
    expect_refused("save", [&] { checkpoints->save(2); });
    expect_refused("save_async", [&] { checkpoints->save_async(2); });
    expect_refused("finish", [&] { checkpoints->finish(); });
    expect_refused("load", [&] { checkpoints->load(); });
    expect_refused("done", [&] { static_cast<void>(checkpoints->done()); });
    expect_refused("staged", [&] { static_cast<void>(checkpoints->staged()); });
    expect_refused("release_memory", [&] { checkpoints->release_memory(); });
    expect_refused("add", [&] { checkpoints->add(table, "other"); });
    checkpoints.reset();
    expect_refused("should_stop", [&] { job.should_stop(); });
    expect_refused("stop_requested of a job", [&] { static_cast<void>(job.stop_requested()); });
    expect_refused("checkpoint_due", [&] { static_cast<void>(job.checkpoint_due()); });
    expect_refused("need_checkpoint", [&] { job.need_checkpoint({}); });
    expect_refused("begin_interval", [&] { job.begin_interval({}); });
  });
  checkpoints->finish();
  expect(checkpoints->load().step == 1, "the checkpoint of the parents");
}

// Returns whether this is a child that leaves the blocks of its parent's servers.
bool run(const std::string& folder) {
  adapm::ParameterManager manager(MPI_COMM_WORLD);
  const Numbers table = manager.create_table<std::int64_t>({.name = "numbers", .keys = kKeys});
  const std::int64_t ranks = manager.ranks();
  between_phases(manager, table);
  in_run_here(manager, table);
  in_run_workers(manager, table, 2 * ranks);
  with_handles(manager, table, 6 * ranks);
  with_checkpoints(manager, table, folder);
  ParameterServer server(MPI_COMM_WORLD);
  const Numbers other = server.create_table<std::int64_t>({.keys = kKeys});
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    limit_child();
    return true;
  }
  expect_status(child, kLeft, "leaving main");
  server.run_here([&](Worker& worker) { add_and_check(worker, other, 0); });
  manager.run_here([&](adapm::IntentWorker& worker) { add_and_check(worker, table, 8 * ranks); });
  server.close();
  manager.close();
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return EXIT_FAILURE;
  lapse::prepare_mpi_environment();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  try {
    if (run(arguments[1])) return kLeft;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  if (rank == 0) std::filesystem::remove_all(arguments[1]);
  return EXIT_SUCCESS;
}
