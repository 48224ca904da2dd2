// Traces of allocation that a test writes and reads.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "apps/viewer/allocation.hpp"
#include "lapse/core/options.hpp"

namespace lapse::test {

// A prefix of trace files, which the object removes: rank 0, when all ranks are done with them.
class TracePrefix {
 public:
  TracePrefix() {
    int number = getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    static int prefixes = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("lapse-allocation-" + std::to_string(number) + "-" + std::to_string(prefixes++));
  }
  ~TracePrefix() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    std::filesystem::remove(path_.string() + "." + std::to_string(rank));
  }
  TracePrefix(const TracePrefix&) = delete;
  TracePrefix& operator=(const TracePrefix&) = delete;

  std::string path() const { return path_.string(); }
  // After the ranks have closed their servers.
  lapse::apps::Allocation read() const {
    MPI_Barrier(MPI_COMM_WORLD);
    return lapse::apps::read_allocation(path());
  }

 private:
  std::filesystem::path path_;
};

inline Options traced(const TracePrefix& prefix) {
  Options options = Options::from_environment();
  options.allocation_trace = prefix.path();
  return options;
}

}  // namespace lapse::test
