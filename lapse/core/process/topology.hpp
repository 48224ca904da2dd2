// The hardware that this process runs on: the cores it is bound to, the host's memory nodes, and warnings
// about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lapse {

struct Topology {
  std::size_t usable_cores = 0;             // Cores that the binding of this process includes.
  std::size_t usable_hardware_threads = 0;  // Hardware threads of these cores that the binding includes.
  std::size_t host_cores = 0;               // Cores of the host, or of the part of it that this job may use.
  std::size_t memory_nodes = 0;             // NUMA nodes of the host.
  std::string binding;                      // The hardware threads as a list, such as "0-3,8".
  std::string nearby_nodes;  // NUMA nodes of these hardware threads, as a list: where memory is placed.
  std::string huge_pages;    // Transparent huge pages: always, madvise, never; or empty.

  // Queries hwloc. Takes some milliseconds; any thread, before workers are bound to cores of their own.
  // Throws Error if the topology cannot be read.
  static Topology detect();

  // A description in one line.
  std::string to_text() const;
};

// A warning if `workers` workers and `progress_threads` progress threads of this rank share one core, or have
// fewer cores than workers; nullopt otherwise.
std::optional<std::string> core_sharing_warning(const Topology& topology, std::size_t workers,
                                                std::size_t progress_threads);

// The numbers of processes that launchers put into a process's environment, if set.
struct LaunchedProcesses {
  using Text = std::optional<std::string_view>;

  Text slurm_step = std::nullopt;  // SLURM_STEP_NUM_TASKS: of the srun that started the process
  Text slurm_job = std::nullopt;   // SLURM_NTASKS: of the whole job, outside of srun
  Text mpich = std::nullopt;       // PMI_SIZE: of the launchers of MPICH, Intel MPI, MVAPICH and Cray
  Text open_mpi = std::nullopt;    // OMPI_COMM_WORLD_SIZE: of Open MPI's mpirun
};

// A warning if a launcher started several processes but MPI has `job_ranks` = 1 in total (MPI_COMM_WORLD):
// each process then believes that it is alone. For Slurm the step counts if there is one: a job may have
// several.
std::optional<std::string> lone_rank_warning(const LaunchedProcesses& launched, std::int32_t job_ranks);

// The same for the environment of this process.
std::optional<std::string> lone_rank_warning(std::int32_t job_ranks);

}  // namespace lapse
