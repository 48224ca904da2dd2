// Differences between MPI libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lapse {

struct EnvironmentSetting {
  const char* variable;
  const char* value;
};

enum class MpiProduct : std::uint8_t { open_mpi, mpich, intel_mpi, mvapich, cray_mpich, unknown };
// Libraries of one family share their handles: a program compiled with one may run with another.
enum class MpiFamily : std::uint8_t { open_mpi, mpich, unknown };

// All choices that depend on the MPI library. What the standard promises is used with every library and
// tested when a server starts (windows, shared memory); an unknown library gets nothing else.
struct MpiLibrary {
  MpiProduct product = MpiProduct::unknown;
  MpiFamily family = MpiFamily::unknown;
  std::optional<int> major = {};  // nullopt: not found in the version text

  // Set in the environment, where unset, before MPI starts.
  //
  // No value names a component of Open MPI: MPI_Init fails if a list names one that this build of Open MPI
  // lacks. The excluding form (^) accepts missing ones.
  //   up to version 4   osc without rdma, whose compare-and-swap crashes in 4.1; its other components work
  //                     with MPI_THREAD_SERIALIZED, within hosts (sm) and between them (pt2pt, ucx). A list
  //                     in the environment also replaces the one of Debian, which excludes pt2pt and ucx.
  //   from version 5    osc as Open MPI chooses: pt2pt is gone, and rdma is what it has over TCP.
  // The shared-memory transport, whose eager limit is raised, is called vader up to version 4, then sm.
  std::span<const EnvironmentSetting> settings = {};

  // Control variables for the largest message that needs no further help of its sender: within a host (this
  // build of the library has some of them) and by TCP. The limits include a header of the library.
  std::span<const char* const> host_eager_limits = {};
  const char* network_eager_limit = nullptr;
  std::size_t eager_header_bytes = 0;

  // The number of codes after MPI_ERR_LASTCODE that belong to no error class: MPICH, at least up to version
  // 4.0, crashes when asked for their text.
  int reserved_error_codes = 0;
  // Variable for the folder of the files of shared windows; null: it cannot be chosen.
  const char* shared_folder_variable = nullptr;

  // Remedies if windows, or shared-memory windows, do not work: parts of sentences; empty if unknown.
  std::string_view windows_remedy = {};
  std::string_view shared_windows_remedy = {};
};

// Pure. The library whose MPI_Get_library_version returns this text.
MpiLibrary mpi_library_of(std::string_view version_text);
// The result of MPI_Get_library_version for the loaded library; empty if it fails. Any thread, at any time.
std::string loaded_library();
// That library. Any thread, at any time.
const MpiLibrary& mpi_library();

}  // namespace lapse
