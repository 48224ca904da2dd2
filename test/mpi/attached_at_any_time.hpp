// Threads that attach while phases begin and end.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/mpi/server_expect.hpp"

namespace lapse::test {

// Threads attach at any time, also while the phase ends: the phase lasts until they detach. Runs on one rank,
// because the threads are always busy.
inline void attached_at_any_time() {
  constexpr int kPhases = 300;
  ParameterServer server(MPI_COMM_SELF);
  std::atomic<bool> ends = false;
  std::atomic<int> phase = 0;
  std::atomic<int> outlived = 0;
  const auto attach_now_and_then = [&] {
    while (!ends) {
      try {
        const AttachedWorker worker = server.attach();
        const int begin = phase;
        std::this_thread::yield();
        if (phase != begin) ++outlived;
      } catch (const UsageError&) {
        // No phase is running, or no slot is free.
      }
      for (int i = 0; i < 20; ++i) std::this_thread::yield();
    }
  };
  std::array<std::thread, 2> threads;
  for (std::thread& thread : threads) thread = std::thread(attach_now_and_then);
  while (phase < kPhases && outlived == 0) {
    server.start_progress(threads.size());
    for (bool stopped = false; !stopped;) {
      try {
        server.stop_progress();
        stopped = true;
      } catch (const UsageError&) {
        server.progress();
        std::this_thread::yield();
      }
    }
    ++phase;
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  server.close();
  expect(outlived == 0, "a phase that lasts until all have detached");
}

}  // namespace lapse::test
