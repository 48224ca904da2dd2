// The hardware that the process runs on, and warnings about it.
#include "lapse/core/process/topology.hpp"

#include <sched.h>

#include <filesystem>
#include <string>

#include "test/support/catch.hpp"

using Catch::Matchers::Contains;
using lapse::Topology;

TEST_CASE("the topology agrees with the system") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  const Topology topology = Topology::detect();
  CHECK(topology.usable_hardware_threads == static_cast<std::size_t>(CPU_COUNT(&allowed)));
  CHECK(topology.usable_cores >= 1);
  CHECK(topology.usable_cores <= topology.usable_hardware_threads);
  CHECK(topology.usable_cores <= topology.host_cores);
  CHECK(topology.memory_nodes >= 1);
  CHECK_FALSE(topology.nearby_nodes.empty());
  CHECK_THAT(topology.to_text(), Contains(topology.binding));
}

namespace {
// Binds every thread of this process: sanitizers start threads of their own.
void bind_process(const cpu_set_t& set) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    REQUIRE(sched_setaffinity(std::stoi(thread.path().filename()), sizeof set, &set) == 0);
  }
}
}  // namespace

TEST_CASE("a narrower binding is seen") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  const int cpu = sched_getcpu();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  bind_process(one);
  const Topology topology = Topology::detect();
  bind_process(allowed);
  CHECK(topology.usable_hardware_threads == 1);
  CHECK(topology.usable_cores == 1);
  CHECK(topology.binding == std::to_string(cpu));
}

TEST_CASE("the topology reads as a sentence") {
  const Topology topology{.usable_cores = 2,
                          .usable_hardware_threads = 4,
                          .host_cores = 8,
                          .memory_nodes = 1,
                          .binding = "0-3",
                          .nearby_nodes = "0",
                          .huge_pages = ""};
  CHECK(topology.to_text() == "bound to hardware threads 0-3 (2 of 8 cores), 1 NUMA node");
  Topology larger = topology;
  larger.memory_nodes = 4;
  larger.nearby_nodes = "0,2";
  larger.huge_pages = "madvise";
  CHECK(larger.to_text() ==
        "bound to hardware threads 0-3 (2 of 8 cores), 4 NUMA nodes, values placed on 0,2");
  larger.huge_pages = "never";
  CHECK_THAT(larger.to_text(), Contains("huge pages are off"));
}

TEST_CASE("shared cores are warned about") {
  const Topology topology{.usable_cores = 2,
                          .usable_hardware_threads = 2,
                          .host_cores = 2,
                          .memory_nodes = 1,
                          .binding = "4,5",
                          .nearby_nodes = "0",
                          .huge_pages = ""};
  CHECK_FALSE(lapse::core_sharing_warning(topology, 1, 1));
  CHECK_FALSE(lapse::core_sharing_warning(topology, 5, 0));
  CHECK_FALSE(lapse::core_sharing_warning(topology, 0, 5));
  CHECK_FALSE(lapse::core_sharing_warning(topology, 2, 1));
  const auto warning = lapse::core_sharing_warning(topology, 3, 1);
  REQUIRE(warning);
  CHECK_THAT(*warning, Contains("3 workers and 1 progress thread share 2 hardware threads (4,5)"));
  const Topology one{.usable_cores = 1,
                     .usable_hardware_threads = 1,
                     .host_cores = 2,
                     .memory_nodes = 1,
                     .binding = "4",
                     .nearby_nodes = "0",
                     .huge_pages = ""};
  const auto alone = lapse::core_sharing_warning(one, 1, 1);
  REQUIRE(alone);
  CHECK_THAT(*alone, Contains("1 worker and 1 progress thread share 1 hardware thread (4)"));
}

TEST_CASE("a lone rank among several Slurm tasks is warned about") {
  CHECK_FALSE(lapse::lone_rank_warning({}, 1));
  CHECK_FALSE(lapse::lone_rank_warning({.slurm_job = "1"}, 1));
  CHECK_FALSE(lapse::lone_rank_warning({.slurm_job = "4"}, 4));
  CHECK_FALSE(lapse::lone_rank_warning({.slurm_job = "nonsense"}, 1));
  // srun --ntasks=1 in a job with four tasks.
  CHECK_FALSE(lapse::lone_rank_warning({.slurm_step = "1", .slurm_job = "4"}, 1));
  CHECK(lapse::lone_rank_warning({.slurm_step = "2", .slurm_job = "4"}, 1).value_or("").find("2 tasks") !=
        std::string::npos);
  const auto warning = lapse::lone_rank_warning({.slurm_job = "4"}, 1);
  REQUIRE(warning);
  CHECK_THAT(*warning, Contains("4 tasks") && Contains("srun --mpi=pmix"));
}

TEST_CASE("a lone rank among several processes of another library's launcher is warned about") {
  CHECK_FALSE(lapse::lone_rank_warning({.mpich = "1", .open_mpi = "1"}, 1));
  CHECK_FALSE(lapse::lone_rank_warning({.mpich = "2", .open_mpi = "2"}, 2));
  CHECK_FALSE(lapse::lone_rank_warning({.mpich = "", .open_mpi = "nonsense"}, 1));
  CHECK(lapse::lone_rank_warning({.mpich = "3", .open_mpi = "1"}, 1)
            .value_or("")
            .starts_with("a launcher of MPICH's family has started 3 processes"));
  CHECK(lapse::lone_rank_warning({.open_mpi = "4"}, 1)
            .value_or("")
            .starts_with("a launcher of Open MPI has started 4 processes"));
}
