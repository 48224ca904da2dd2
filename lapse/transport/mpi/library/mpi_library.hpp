// What differs between MPI libraries.
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
// Libraries of one family share their handles: what is compiled with one may run with another.
enum class MpiFamily : std::uint8_t { open_mpi, mpich, unknown };

// All choices that depend on the MPI library. What the standard promises is used with every library, and
// tested when a server starts (windows, shared memory); a library that is not known gets nothing but that.
struct MpiLibrary {
  MpiProduct product = MpiProduct::unknown;
  MpiFamily family = MpiFamily::unknown;
  std::optional<int> major = {};  // of the version; nothing: the text has none where it is expected

  // Set in the environment, where unset, before MPI starts.
  //
  // No value names a component of Open MPI, because MPI_Init fails when a list has one that this build of
  // Open MPI lacks; the form that excludes (^) accepts missing ones.
  //   up to version 4   osc without rdma, whose compare-and-swap crashes in 4.1; its other components work
  //                     with MPI_THREAD_SERIALIZED, within hosts (sm) and between them (pt2pt, ucx). A list
  //                     in the environment also replaces the one of Debian, which excludes pt2pt and ucx.
  //   from version 5    osc as Open MPI chooses: pt2pt is gone, and rdma is what it has over TCP.
  // The shared-memory transport, whose limit of eager messages is raised, is called vader up to version 4,
  // then sm.
  std::span<const EnvironmentSetting> settings = {};

  // Control variables with the largest message that needs no further help of its sender: within a host (of
  // which this build of the library has some), and by TCP. The limits count a header of the library.
  std::span<const char* const> host_eager_limits = {};
  const char* network_eager_limit = nullptr;
  std::size_t eager_header_bytes = 0;

  // Behind MPI_ERR_LASTCODE, the first so many codes belong to no class of errors: MPICH, at least up to
  // version 4.0, crashes when it is asked for their text.
  int reserved_error_codes = 0;
  // Variable with the folder of the files behind shared windows; null: it cannot be chosen.
  const char* shared_folder_variable = nullptr;

  // What to do where windows, or windows of shared memory, do not work: parts of sentences; empty: nothing
  // is known.
  std::string_view windows_remedy = {};
  std::string_view shared_windows_remedy = {};
};

// Pure. The library with this text of MPI_Get_library_version.
MpiLibrary mpi_library_of(std::string_view version_text);
// What MPI_Get_library_version says of the library that the process has loaded; empty where it fails. Any
// thread, at any time.
std::string loaded_library();
// That library. Any thread, at any time.
const MpiLibrary& mpi_library();

}  // namespace lapse
