// All ranks of a job learn that it should stop or save a checkpoint.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/jobs/job_control.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

using SystemClock = std::chrono::system_clock;

// Sets an environment variable while the object lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  ~Variable() { unsetenv(name_); }  // NOLINT(concurrency-mt-unsafe)
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

std::string seconds_from_now(int seconds) {
  return std::to_string(SystemClock::to_time_t(SystemClock::now()) + seconds);
}

void handle_otherwise(int) {}

}  // namespace

TEST_CASE("A signal on one rank ends the phase on all ranks") {
  ParameterServer server(MPI_COMM_WORLD);
  const Rank last(server.ranks() - 1);
  {
    JobControl control(server, {.signals = {SIGUSR1, SIGTERM}});
    CHECK_FALSE(control.stop_requested());
    CHECK_FALSE(control.should_stop());
    server.run_workers(2, [&](Worker& worker) {
      worker.barrier();
      if (worker.rank() == last && worker.local_index() == 1) ::kill(::getpid(), SIGUSR1);
      while (!control.stop_requested()) std::this_thread::yield();
    });
    CHECK(control.should_stop());
    CHECK(control.stop_reason() == "SIGUSR1 on rank " + std::to_string(last.value()));
  }
  server.close();
}

TEST_CASE("A signal between phases ends the next one") {
  ParameterServer server(MPI_COMM_WORLD);
  JobControl control(server, {.signals = {SIGTERM}});
  if (server.rank() == Rank(0)) std::raise(SIGTERM);
  CHECK(control.stop_requested() == (server.rank() == Rank(0)));
  server.run_workers(1, [&](Worker& /*worker*/) {
    while (!control.stop_requested()) std::this_thread::yield();
  });
  CHECK(control.should_stop());
  CHECK(control.stop_reason() == "SIGTERM on rank 0");
  server.close();
}

TEST_CASE("A thread that is no worker ends the phase on all ranks") {
  ParameterServer server(MPI_COMM_WORLD);
  std::thread thread;
  server.run_workers(1, [&](Worker& worker) {
    worker.barrier();
    if (worker.rank() == Rank(server.ranks() - 1)) thread = std::thread([&] { server.request_stop(); });
    while (!server.stop_requested()) std::this_thread::yield();
  });
  if (thread.joinable()) thread.join();
  CHECK(server.stop_requested());
  server.close();
}

TEST_CASE("Former handlers of signals are put back, and none is installed unless asked") {
  ParameterServer server(MPI_COMM_WORLD);
  struct sigaction own {};
  struct sigaction former {};
  struct sigaction found {};
  own.sa_handler = handle_otherwise;
  sigaction(SIGUSR1, &own, &former);
  {
    const JobControl without(server, {});
    sigaction(SIGUSR1, nullptr, &found);
    CHECK(found.sa_handler == handle_otherwise);
    const JobControl with(server, {.signals = {SIGUSR1}});
    sigaction(SIGUSR1, nullptr, &found);
    CHECK(found.sa_handler != handle_otherwise);
  }
  sigaction(SIGUSR1, nullptr, &found);
  CHECK(found.sa_handler == handle_otherwise);
  sigaction(SIGUSR1, &former, nullptr);
  server.close();
}

TEST_CASE("A job stops before its time is over, by the clock of rank 0") {
  ParameterServer server(MPI_COMM_WORLD);
  const bool is_first = server.rank() == Rank(0);
  for (const char* none : {"", "1000"}) {  // the number of an earlier job
    const Variable variable("SLURM_JOB_END_TIME", none);
    JobControl later(server, {.grace = std::chrono::seconds(120)});
    CHECK_FALSE(later.stop_requested());
    CHECK_FALSE(later.should_stop());
  }
  {
    // The variable is ignored on other ranks.
    const Variable variable("SLURM_JOB_END_TIME", is_first ? seconds_from_now(1000) : seconds_from_now(1));
    JobControl later(server, {.grace = std::chrono::seconds(900)});
    CHECK_FALSE(later.stop_requested());
    CHECK_FALSE(later.should_stop());
    JobControl other(server, {.deadline = SystemClock::now() + std::chrono::hours(1)});
    CHECK_FALSE(other.should_stop());
  }
  {
    const Variable variable("SLURM_JOB_END_TIME", is_first ? seconds_from_now(100) : "never");
    JobControl now(server, {.grace = std::chrono::seconds(120)});
    CHECK(now.stop_requested());
    CHECK(now.should_stop());
    CHECK(now.stop_reason() == "the time of the job ends");
  }
  server.close();
}

TEST_CASE("Checkpoints are due after epochs, clocks or a time") {
  ParameterServer server(MPI_COMM_WORLD);
  JobControl epochs(server, {.checkpoint_interval = {.epochs = 2, .clocks = 100}});
  CHECK_FALSE(epochs.need_checkpoint({.epochs = 1, .clocks = 99}));
  CHECK(epochs.need_checkpoint({.epochs = 2, .clocks = 99}));
  CHECK_FALSE(epochs.need_checkpoint({.epochs = 3, .clocks = 198}));
  CHECK(epochs.need_checkpoint({.epochs = 3, .clocks = 199}));
  epochs.begin_interval({.epochs = 10, .clocks = 0});
  CHECK_FALSE(epochs.need_checkpoint({.epochs = 11, .clocks = 99}));
  CHECK(epochs.need_checkpoint({.epochs = 12, .clocks = 0}));
  CHECK_FALSE(epochs.checkpoint_due());

  JobControl never(server, {});
  CHECK_FALSE(never.need_checkpoint({.epochs = 1000, .clocks = 1000}));

  JobControl time(server, {.checkpoint_interval = {.time = std::chrono::seconds(1)}});
  const auto begin = std::chrono::steady_clock::now();
  while (!time.checkpoint_due()) std::this_thread::yield();
  CHECK(std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(500));
  CHECK(time.need_checkpoint({}));
  server.close();
}

TEST_CASE("Times longer than a clock counts mean never, or at once") {
  using std::chrono::seconds;
  ParameterServer server(MPI_COMM_WORLD);
  for (const seconds time :
       {seconds::max(), seconds::max() - seconds(1), seconds(1) * (std::int64_t{1} << 40)}) {
    JobControl job(server, {.checkpoint_interval = {.time = time}});
    CHECK_FALSE(job.checkpoint_due());
    CHECK_FALSE(job.need_checkpoint({.epochs = 1, .clocks = 1}));
    job.begin_interval({});
    CHECK_FALSE(job.checkpoint_due());
  }
  const auto stops = [&](SystemClock::time_point deadline, seconds grace) {
    JobControl job(server, {.deadline = deadline, .grace = grace});
    const bool should = job.should_stop();
    CHECK(job.stop_requested() == should);
    return should;
  };
  CHECK_FALSE(stops(SystemClock::time_point::max(), seconds(120)));
  CHECK_FALSE(stops(SystemClock::now(), seconds::min()));
  CHECK_FALSE(stops(SystemClock::time_point::max(), seconds::min()));
  server.close();
  // A requested stop of a server cannot be revoked.
  ParameterServer second(MPI_COMM_WORLD);
  JobControl grace(second, {.deadline = SystemClock::now(), .grace = seconds::max()});
  CHECK(grace.should_stop());
  second.close();
  ParameterServer third(MPI_COMM_WORLD);
  JobControl past(third, {.deadline = SystemClock::time_point::min(), .grace = seconds::max()});
  CHECK(past.should_stop());
  third.close();
}

TEST_CASE("Impossible settings of a job are refused on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  CHECK_THROWS_AS(JobControl(server, {.signals = {SIGKILL}}), UsageError);
  CHECK_THROWS_AS(JobControl(server, {.signals = {0}}), UsageError);
  CHECK_THROWS_AS(JobControl(server, {.checkpoint_interval = {.epochs = 0}}), UsageError);
  CHECK_THROWS_AS(JobControl(server, {.checkpoint_interval = {.time = std::chrono::seconds(0)}}), UsageError);
  {
    const Variable variable("SLURM_JOB_END_TIME", "12 o'clock");
    CHECK_THROWS_AS(JobControl(server, {}), Error);  // Rank 0 reads the variable.
  }
  if (server.ranks() > 1) {
    const std::uint64_t epochs = server.rank() == Rank(0) ? 1 : 2;
    CHECK_THROWS_AS(JobControl(server, {.checkpoint_interval = {.epochs = epochs}}), CollectiveMismatch);
  }
  server.close();
}
