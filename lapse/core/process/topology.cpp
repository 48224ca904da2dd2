#include "lapse/core/process/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <type_traits>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using OwnedTopology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using OwnedBitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

OwnedTopology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw Error("hwloc cannot create a topology");
  OwnedTopology topology(raw);
  if (hwloc_topology_load(raw) != 0) throw Error("hwloc cannot read the topology of this host");
  return topology;
}

// The hardware threads that this process may run on; all if the system does not report them.
OwnedBitmap binding_of_process(hwloc_topology_t topology) {
  OwnedBitmap binding(hwloc_bitmap_alloc());
  if (!binding) throw Error("hwloc cannot create a bitmap");
  hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(topology);
  if (hwloc_get_cpubind(topology, binding.get(), HWLOC_CPUBIND_PROCESS) != 0 ||
      hwloc_bitmap_iszero(binding.get())) {
    hwloc_bitmap_copy(binding.get(), all);
  }
  hwloc_bitmap_and(binding.get(), binding.get(), all);
  return binding;
}

// Cores that share a hardware thread with the set. If a virtual machine reports no cores, hardware threads
// count.
std::size_t count_cores(hwloc_topology_t topology, hwloc_const_cpuset_t set) {
  std::size_t cores = 0;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr;) {
    if (hwloc_bitmap_intersects(core->cpuset, set)) ++cores;
  }
  return cores > 0 ? cores : static_cast<std::size_t>(hwloc_bitmap_weight(set));
}

std::string list_of(hwloc_const_cpuset_t set) {
  const int length = hwloc_bitmap_list_snprintf(nullptr, 0, set);
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  hwloc_bitmap_list_snprintf(text.data(), text.size(), set);
  text.pop_back();
  return text;
}

// The word in brackets of a file such as "always [madvise] never".
std::string chosen_word(const char* path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  return begin == std::string::npos || end == std::string::npos ? ""
                                                                : text.substr(begin + 1, end - begin - 1);
}

std::string nodes_near(hwloc_topology_t topology, hwloc_const_cpuset_t set) {
  const OwnedBitmap nodes(hwloc_bitmap_alloc());
  if (!nodes) throw Error("hwloc cannot create a bitmap");
  hwloc_cpuset_to_nodeset(topology, set, nodes.get());
  return list_of(nodes.get());
}

}  // namespace

Topology Topology::detect() {
  const OwnedTopology topology = load_topology();
  const OwnedBitmap binding = binding_of_process(topology.get());
  const int nodes = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE);
  return {.usable_cores = count_cores(topology.get(), binding.get()),
          .usable_hardware_threads = static_cast<std::size_t>(hwloc_bitmap_weight(binding.get())),
          .host_cores = count_cores(topology.get(), hwloc_topology_get_topology_cpuset(topology.get())),
          .memory_nodes = nodes > 0 ? static_cast<std::size_t>(nodes) : 1,
          .binding = list_of(binding.get()),
          .nearby_nodes = nodes_near(topology.get(), binding.get()),
          .huge_pages = chosen_word("/sys/kernel/mm/transparent_hugepage/enabled")};
}

std::string Topology::to_text() const {
  std::string text = fmt::format("bound to hardware threads {} ({} of {} cores), {} NUMA node{}", binding,
                                 usable_cores, host_cores, memory_nodes, memory_nodes == 1 ? "" : "s");
  if (memory_nodes > 1) text += fmt::format(", values placed on {}", nearby_nodes);
  if (huge_pages == "never") {
    text +=
        "; huge pages are off, which makes random access to large tables slower (echo madvise > "
        "/sys/kernel/mm/transparent_hugepage/enabled)";
  }
  return text;
}

std::optional<std::string> core_sharing_warning(const Topology& topology, std::size_t workers,
                                                std::size_t progress_threads) {
  if (workers == 0 || progress_threads == 0) return std::nullopt;
  // A progress thread sleeps while workers help, so it needs a core of its own only if there is just one.
  if (workers <= topology.usable_hardware_threads && topology.usable_hardware_threads > 1)
    return std::nullopt;
  return fmt::format(
      "{} worker{} and {} progress thread{} share {} hardware thread{} ({}): bind each rank to more cores "
      "(mpirun "
      "--bind-to none, or --map-by slot:PE=<n>; srun --cpus-per-task=<n>) or start fewer workers",
      workers, workers == 1 ? "" : "s", progress_threads, progress_threads == 1 ? "" : "s",
      topology.usable_hardware_threads, topology.usable_hardware_threads == 1 ? "" : "s", topology.binding);
}

std::optional<std::string> lone_rank_warning(const LaunchedProcesses& launched, std::int32_t job_ranks) {
  if (job_ranks != 1) return std::nullopt;
  const auto number = [](const LaunchedProcesses::Text& text) {
    int processes = 0;
    if (text) std::from_chars(text->data(), text->data() + text->size(), processes);
    return processes;
  };
  if (const int tasks = number(launched.slurm_step ? launched.slurm_step : launched.slurm_job); tasks > 1) {
    return fmt::format(
        "Slurm has {} tasks but MPI_COMM_WORLD has 1 rank: if this is not intended, srun and the MPI library "
        "do not share a process manager interface; start the job with srun --mpi=pmix (srun --mpi=list shows "
        "the choices) or with mpirun",
        tasks);
  }
  const bool by_mpich = number(launched.mpich) > 1;
  const int processes = number(by_mpich ? launched.mpich : launched.open_mpi);
  if (processes <= 1) return std::nullopt;
  return fmt::format(
      "a launcher of {} has started {} processes but MPI_COMM_WORLD has 1 rank: if this is not intended, the "
      "program uses another MPI library than the launcher; start it with the mpirun of the library that it "
      "was built with",
      by_mpich ? "MPICH's family" : "Open MPI", processes);
}

std::optional<std::string> lone_rank_warning(std::int32_t job_ranks) {
  const auto variable = [](const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? std::nullopt : std::optional<std::string_view>(text);
  };
  return lone_rank_warning({.slurm_step = variable("SLURM_STEP_NUM_TASKS"),
                            .slurm_job = variable("SLURM_NTASKS"),
                            .mpich = variable("PMI_SIZE"),
                            .open_mpi = variable("OMPI_COMM_WORLD_SIZE")},
                           job_ranks);
}

}  // namespace lapse
